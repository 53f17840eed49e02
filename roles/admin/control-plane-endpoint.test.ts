import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointHost, parseEndpoint } from './control-plane-endpoint.ts'

const table: readonly [string, string | undefined][] = [
  ['10.0.0.9', '10.0.0.9:6443'],
  ['api.branch-7.example:443', 'api.branch-7.example:443'],
  ['[2001:db8::9]', '[2001:db8::9]:6443'],
  ['2001:db8::9', undefined],
  ['https://10.0.0.9', undefined],
  ['10.0.0.9:0', undefined],
  ['10.0.0.9:65536', undefined],
  ['300.0.0.9', undefined],
  ['a;reboot', undefined],
  ['-x', undefined],
  ['', undefined],
]
for (const [text, expected] of table) {
  test(`the endpoint "${text}" is ${expected ?? 'refused'}`, () => {
    assert.equal(parseEndpoint(text), expected)
  })
}

test('the host of an endpoint has no port, and keeps the brackets of IPv6', () => {
  assert.equal(endpointHost('10.0.0.9:6443'), '10.0.0.9')
  assert.equal(endpointHost('[2001:db8::9]:6443'), '[2001:db8::9]')
})
