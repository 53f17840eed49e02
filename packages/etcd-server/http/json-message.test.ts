import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { decodeMessage, encodeMessage } from '../wire/message-codec.ts'
import { RandomScript } from '../testing/differential/random-script.ts'
import { MalformedJsonError, readJson } from './json-reader.ts'
import { jsonPieces, jsonText } from './json-writer.ts'

test('each request survives its way to JSON and back (seed 11)', () => {
  const { steps } = new RandomScript(seededRandom(11)).make(500)
  const names = { Put: 'PutRequest', Txn: 'TxnRequest', Range: 'RangeRequest' } as const
  let count = 0
  for (const { call, request } of steps) {
    if (call !== 'Put' && call !== 'Txn' && call !== 'Range') continue
    const name = names[call]
    // The name of the call is that of its request.
    const bytes = encodeMessage(name, request as never).done()
    const text = jsonText(name, decodeMessage(name, bytes))
    const read = encodeMessage(name, readJson(name, text)).done()
    assert.deepEqual(Buffer.from(read), Buffer.from(bytes), text)
    count += 1
  }
  assert.ok(count > 300)
})

test('a long answer comes in pieces that are one JSON', () => {
  const kvs = Array.from({ length: 5_000 }, (_, at) => ({
    key: Buffer.from(`key/${at}`),
    value: Buffer.alloc(200),
    modRevision: at,
  }))
  const pieces = [...jsonPieces('RangeResponse', { kvs, count: 5_000, more: true })]
  assert.ok(pieces.length > 3)
  const read = JSON.parse(pieces.join('')) as { kvs: unknown[]; count: string }
  assert.deepEqual([read.kvs.length, read.count], [5_000, '5000'])
})

const wholes: readonly (readonly [text: string, lease: bigint | undefined])[] = [
  ['"5"', 5n],
  ['5', 5n],
  ['5.0', 5n],
  ['"5.0"', 5n],
  ['5e2', 500n],
  ['-1', -1n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['"-9223372036854775808"', -(2n ** 63n)],
  ['9007199254740993', 9007199254740993n],
  ['9223372036854775808', undefined],
  ['1.5', undefined],
  ['""', undefined],
  ['" 5"', undefined],
  ['"0x5"', undefined],
  ['true', undefined],
  ['[]', undefined],
]

for (const [text, lease] of wholes) {
  test(`${text} as a number of 64 bits is ${lease ?? 'refused'}`, () => {
    const read = (): unknown => readJson('PutRequest', `{"lease":${text}}`).lease
    if (lease === undefined) assert.throws(read, MalformedJsonError)
    else assert.equal(read(), lease)
  })
}
