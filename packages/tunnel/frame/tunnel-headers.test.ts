import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadMessageError, parseHeaders, wireHeaders } from './tunnel-headers.ts'
import type { TunnelHeaders } from './tunnel-message.ts'
import { tunnelLimitDefaults } from '../limits-table.ts'

const cases: readonly { what: string; headers: TunnelHeaders; wire: string[] }[] = [
  { what: 'names become lower case', headers: { Accept: 'a/b' }, wire: ['accept', 'a/b'] },
  { what: 'each value has its own line', headers: { a: ['1', '2'] }, wire: ['a', '1', 'a', '2'] },
  {
    what: 'headers for one connection stay there',
    headers: { connection: 'close', 'keep-alive': '5', 'transfer-encoding': 'chunked', host: 'x' },
    wire: [],
  },
  {
    what: 'headers that Connection names stay there, too',
    headers: { Connection: 'X-One, x-two', 'x-one': '1', 'X-Two': '2', 'x-three': '3' },
    wire: ['x-three', '3'],
  },
  { what: 'TE passes for trailers only', headers: { te: 'trailers' }, wire: ['te', 'trailers'] },
  { what: 'any other TE does not', headers: { te: 'gzip' }, wire: [] },
]
for (const { what, headers, wire } of cases) {
  test(`headers: ${what}`, () => {
    assert.deepEqual(wireHeaders(headers, tunnelLimitDefaults), wire)
  })
}

test('a header named like a prototype member is only a header', () => {
  const headers = parseHeaders(['__proto__', 'x', 'constructor', 'y'], tunnelLimitDefaults)
  assert.deepEqual(Object.keys(headers), ['__proto__', 'constructor'])
})

const malformed: readonly { what: string; flat: string[] }[] = [
  { what: 'a name without a value', flat: ['a', 'b', 'c'] },
  { what: 'an upper-case name', flat: ['A', 'b'] },
  { what: 'a pseudo header', flat: [':path', '/x'] },
]
for (const { what, flat } of malformed) {
  test(`headers of the other end are refused: ${what}`, () => {
    assert.throws(() => parseHeaders(flat, tunnelLimitDefaults), BadMessageError)
  })
}
