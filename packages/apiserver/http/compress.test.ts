import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { compressed, GzipStreams } from './compress.ts'
import type { ApiAnswer } from '../contract/exchange.ts'

const piece = Buffer.alloc(1_000, 'a')

function list(user: string): ApiAnswer {
  const body = Array.from({ length: 4 }, () => piece)
  return { status: 200, headers: {}, body, reader: { user, mayStay: false } }
}

async function open(user: string, streams: GzipStreams) {
  const answer = await compressed(list(user), 'gzip', { bytesMin: 100, streams })
  if (!(Symbol.asyncIterator in answer.body)) return undefined
  const reader = answer.body[Symbol.asyncIterator]()
  await reader.next()
  return reader
}

test('lists that one user leaves unread hold few compressors; others still have theirs', async () => {
  const streams = new GzipStreams()
  const unread = []
  for (let count = 0; count < 200; count += 1) unread.push(await open('mallory', streams))
  const held = unread.filter((reader) => reader !== undefined)
  assert.equal(held.length, 16)
  assert.ok(await open('alice', streams))
  assert.equal(streams.count, 17)
  for (const reader of held) await reader.return?.()
  assert.equal(streams.count, 1)
  assert.ok(await open('mallory', streams))
})

test('a compressed list is whole, and one that is never read holds nothing', async () => {
  const streams = new GzipStreams()
  const answer = await compressed(list('alice'), 'gzip', { bytesMin: 100, streams })
  assert.equal(streams.count, 0)
  const parts: Uint8Array[] = []
  // The answer to a list in pieces is a stream, never bytes.
  for await (const part of answer.body as AsyncIterable<Uint8Array>) parts.push(part)
  assert.deepEqual(gunzipSync(Buffer.concat(parts)), Buffer.alloc(4_000, 'a'))
  assert.equal(streams.count, 0)
})
