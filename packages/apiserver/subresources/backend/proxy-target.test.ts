import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProxyName, portNumber } from './proxy-target.ts'

test('names in proxy paths have three forms', () => {
  assert.deepEqual(parseProxyName('web'), { scheme: '', name: 'web', port: '' })
  assert.deepEqual(parseProxyName('web:http'), { scheme: '', name: 'web', port: 'http' })
  assert.deepEqual(parseProxyName('https:web:'), { scheme: 'https', name: 'web', port: '' })
  assert.equal(parseProxyName('web:'), undefined)
  assert.equal(parseProxyName('a:b:c:d'), undefined)
})

test('a port in a proxy path is decimal, or refused', () => {
  for (const [text, port] of [
    ['1', 1],
    ['10250', 10_250],
    ['010250', 10_250],
    ['65535', 65_535],
  ] as const) {
    assert.equal(portNumber(text), port, text)
  }
  const odd = ['0', '65536', '10250.0', '0x280a', ' 10250', '+10250', '1e4', '١٠', 'http', '-1', '']
  for (const text of odd) {
    const message = `invalid port ${JSON.stringify(text)}`
    assert.throws(() => portNumber(text), { code: 400, message }, text)
  }
})
