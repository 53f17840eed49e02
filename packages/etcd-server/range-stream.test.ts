import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, MessageDraft } from './wire/etcd-messages-table.ts'
import { EtcdClient, type StatusOfCall } from './testing/etcd-client.ts'
import { openTestServer, type TestServer } from './testing/open-test-server.ts'

const b = (text: string): Uint8Array => Buffer.from(text)
const everything = { key: b('\0'), rangeEnd: b('\0') }

/** Merges the parts as clients do. */
async function streamed(
  client: EtcdClient,
  request: MessageDraft<'RangeRequest'>,
): Promise<{ whole: Message<'RangeResponse'>; parts: number }> {
  const stream = client.stream('RangeStream')
  stream.send(request)
  stream.end()
  let whole: Message<'RangeResponse'> = { header: undefined, kvs: [], more: false, count: 0 }
  let parts = 0
  for await (const { rangeResponse: part } of stream) {
    if (!part) continue
    assert.equal(whole.header, undefined, 'the last part has the header')
    whole = { ...part, kvs: [...whole.kvs, ...part.kvs] }
    parts += 1
  }
  return { whole, parts }
}

async function fill(server: TestServer, count: number, valueBytes: number): Promise<void> {
  const value = Buffer.alloc(valueBytes, 'v')
  for (let at = 0; at < count; at += 50) {
    const puts = Array.from({ length: Math.min(50, count - at) }, (_, next) =>
      server.client.call('Put', { key: b(`key/${String(at + next).padStart(6, '0')}`), value }),
    )
    await Promise.all(puts)
  }
}

const requests: readonly MessageDraft<'RangeRequest'>[] = [
  everything,
  { key: b('key/000003') },
  { key: b('none') },
  { ...everything, limit: 7 },
  { ...everything, limit: 1_000 },
  { ...everything, keysOnly: true },
  { ...everything, countOnly: true },
  { ...everything, revision: 20 },
  { ...everything, revision: 20, limit: 5 },
  { ...everything, sortOrder: 1 },
  { key: b('key/000010'), rangeEnd: b('key/000020') },
  { key: b('z'), rangeEnd: b('a') },
]

test('the parts of a stream are together the answer of Range', async () => {
  await using server = await openTestServer()
  await fill(server, 60, 100_000)
  for (const request of requests) {
    const { whole } = await streamed(server.client, request)
    assert.deepEqual(whole, await server.client.call('Range', request))
  }
  assert.ok((await streamed(server.client, everything)).parts > 4)
})

const refused: readonly (readonly [MessageDraft<'RangeRequest'>, number])[] = [
  [{}, 3],
  [{ ...everything, sortOrder: 2 }, 12],
  [{ ...everything, sortTarget: 3, sortOrder: 1 }, 12],
  [{ ...everything, minModRevision: 1 }, 12],
  [{ ...everything, revision: 999 }, 11],
]

test('a stream that cannot be served is refused as etcd refuses it', async () => {
  await using server = await openTestServer()
  for (const [request, code] of refused) {
    await assert.rejects(
      streamed(server.client, request),
      (error: StatusOfCall) => error.code === code,
    )
  }
})

test('a stream whose reader is slow waits in the store, and shows one revision', async () => {
  await using server = await openTestServer()
  await fill(server, 100, 200_000)
  using reader = new EtcdClient(server.endpoint)
  const stream = reader.stream('RangeStream')
  stream.send(everything)
  stream.end()
  const parts = stream[Symbol.asyncIterator]()
  const first = (await parts.next()).value?.rangeResponse
  const before = process.memoryUsage().arrayBuffers
  await fill(server, 20, 10)
  await server.client.call('DeleteRange', { key: b('key/000090'), rangeEnd: b('key/1') })
  assert.ok(process.memoryUsage().arrayBuffers - before < 20_000_000)
  let count = first?.kvs.length ?? 0
  let bytes = 0
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const { kvs, count: total } = next.value.rangeResponse ?? { kvs: [], count: 0 }
    count += kvs.length
    for (const { value } of kvs) bytes += value.length
    if (total > 0) assert.equal(total, 100)
  }
  assert.equal(count, 100)
  assert.ok(bytes > 18_000_000)
})

test('a stream fails when its revision is compacted, and others go on', async () => {
  await using server = await openTestServer()
  await fill(server, 60, 200_000)
  using reader = new EtcdClient(server.endpoint)
  const stream = reader.stream('RangeStream')
  stream.send(everything)
  stream.end()
  const parts = stream[Symbol.asyncIterator]()
  await parts.next()
  const { header } = await server.client.call('Put', { key: b('a'), value: b('1') })
  await server.client.call('Compact', { revision: header?.revision ?? 0, physical: true })
  await assert.rejects(
    async () => {
      while (!(await parts.next()).done);
    },
    (error: StatusOfCall) => error.code === 11,
  )
  assert.equal((await server.client.call('Range', { key: b('a') })).count, 1)
})
