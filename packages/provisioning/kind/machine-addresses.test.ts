import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandAddresses } from './machine-addresses.ts'

const expanded: [string, readonly string[]][] = [
  ['10.0.0.11', ['10.0.0.11']],
  ['10.0.0.[11-13]', ['10.0.0.11', '10.0.0.12', '10.0.0.13']],
  ['10.0.[1-2].7', ['10.0.1.7', '10.0.2.7']],
  [
    'shop-[08-10].example.com',
    ['shop-08', 'shop-09', 'shop-10'].map((one) => `${one}.example.com`),
  ],
]
for (const [text, addresses] of expanded) {
  test(`${text} stands for ${addresses.join(', ')}`, () => {
    assert.deepEqual(expandAddresses(text), addresses)
  })
}

const refused: [string, RegExp][] = [
  ['10.0.0.300', /must be an IPv4 address/],
  ['', /must be an IPv4 address/],
  ['10.0.0.[14-11]', /ends before it begins/],
  ['10.0.0.[250-256]', /stands for 10\.0\.0\.256, which is not an address/],
  ['10.0.0.[1-99999]', /at most 1000 machines/],
  ['10.0.0.[1-2].[3-4]', /must be an IPv4 address/],
  ['a;reboot', /must be an IPv4 address/],
  ['-oProxyCommand=reboot', /must be an IPv4 address/],
  ['$(reboot)', /must be an IPv4 address/],
]
for (const [text, why] of refused) {
  test(`${JSON.stringify(text)} is refused as an address`, () => {
    const answer = expandAddresses(text)
    assert.equal(typeof answer, 'string')
    assert.match(String(answer), why)
  })
}
