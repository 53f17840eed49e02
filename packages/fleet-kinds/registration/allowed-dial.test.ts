import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coversDial, dialAddressOf, parseAllowedDial } from './allowed-dial.ts'

for (const [text, dial] of [
  ['10.0.0.21:22', { host: '10.0.0.21', port: 22 }],
  ['10.0.0.0/24:22', { host: '10.0.0.0', bits: 24, port: 22 }],
  ['pos-1.shop:2222', { host: 'pos-1.shop', port: 2222 }],
  ['pos:1', { host: 'pos', port: 1 }],
  ['10.0.0.0/8:65535', { host: '10.0.0.0', bits: 8, port: 65_535 }],
] as const) {
  test(`the allowance ${text} is read`, () => {
    assert.deepEqual(parseAllowedDial(text), dial)
  })
}

for (const text of [
  '',
  '10.0.0.21',
  '10.0.0.21:0',
  '10.0.0.21:65536',
  '10.0.0.21:22:22',
  '10.0.0.0/33:22',
  '10.0.0.0/0:22',
  'pos/24:22',
  '0x7f.1:22',
  '127.1:22',
  '10.0.0.256:22',
  'Pos:22',
  '*:22',
  '::1:22',
  '10.0.0.21:22 ',
]) {
  test(`the allowance ${JSON.stringify(text)} is refused`, () => {
    assert.equal(parseAllowedDial(text), undefined)
  })
}

const allowed = ['10.0.0.0/24:22', '10.1.0.9:2222', 'pos-1.shop:22'].flatMap(
  (text) => parseAllowedDial(text) ?? [],
)
for (const [address, port, isCovered] of [
  ['10.0.0.1', 22, true],
  ['10.0.0.255', 22, true],
  ['10.0.1.1', 22, false],
  ['10.0.0.1', 23, false],
  ['10.1.0.9', 2222, true],
  ['10.1.0.9', 22, false],
  ['pos-1.shop', 22, true],
  ['pos-2.shop', 22, false],
  ['10.0.0.1.shop', 22, false],
] as const) {
  test(`${address} port ${port} is ${isCovered ? 'allowed' : 'not allowed'}`, () => {
    assert.equal(coversDial(allowed, { address, port }), isCovered)
    assert.deepEqual(dialAddressOf(address, String(port)), { address, port })
  })
}

test('nothing is allowed unless somebody allows it', () => {
  assert.equal(coversDial([], { address: '10.0.0.1', port: 22 }), false)
})
