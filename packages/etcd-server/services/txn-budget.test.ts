import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, type Clock } from '@skerry/base'
import { openTestServer, type TestServer } from '../testing/open-test-server.ts'
import type { MessageDraft } from '../wire/etcd-messages-table.ts'

type Operation = MessageDraft<'RequestOp'>

const b = (text: string): Uint8Array => Buffer.from(text)
const everything = { key: b('\0'), rangeEnd: b('\0') }
const put = (key: string): Operation => ({ requestPut: { key: b(key), value: b('1') } })

/** Nothing of the refused request is there, and its revision was not used. */
async function assertUndone({ client }: TestServer, revision: number | undefined): Promise<void> {
  const { header, count } = await client.call('Range', {
    key: b('refused/'),
    rangeEnd: b('refused0'),
  })
  assert.deepEqual([header?.revision, count], [revision, 0])
}

test('a transaction that takes too long is refused and undone, and others of its group are not', async () => {
  let isSlow = false
  let lateMs = 0
  // Each look at the clock finds it 200 ms later.
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + (isSlow ? (lateMs += 200) : lateMs),
  }
  await using server = await openTestServer({ clock })
  const { client } = server
  const watch = client.stream('Watch')
  watch.send({ createRequest: { ...everything, startRevision: 1 } })
  isSlow = true
  const reads = Array.from({ length: 20 }, () => ({ requestRange: everything }))
  const slow = client.call('Txn', { success: [put('refused/a'), ...reads, put('refused/b')] })
  const beside = client.call('Txn', { success: [put('beside')] })
  await assert.rejects(slow, /^StatusOfCall: 8: skerry etcd: .* takes more than 2000 ms/)
  const { header } = await beside
  isSlow = false
  await assertUndone(server, header?.revision)
  assert.equal(header?.revision, 2)
  const after = await client.call('Put', { key: b('after') })
  assert.equal(after.header?.revision, 3)
  const seen: [string, number | undefined][] = []
  for await (const { events } of watch) {
    seen.push(
      ...events.map(({ kv }): [string, number | undefined] => [
        Buffer.from(kv?.key ?? []).toString(),
        kv?.modRevision,
      ]),
    )
    if (seen.length >= 2) break
  }
  assert.deepEqual(seen, [
    ['beside', 2],
    ['after', 3],
  ])
  watch.cancel()
})

test('a transaction that reads too much at once is refused and undone', async () => {
  // However slow this machine is, the transaction has time.
  await using server = await openTestServer({ clock: { ...systemClock, monotonicMs: () => 0 } })
  const { client } = server
  const value = Buffer.alloc(1_048_576, 'v')
  for (let at = 0; at < 8; at += 1) await client.call('Put', { key: b(`key/${at}`), value })
  const all = { key: b('key/'), rangeEnd: b('key0') }
  const often = Array.from({ length: 16 }, () => ({ requestRange: all }))
  const refused = /^StatusOfCall: 8: skerry etcd: .* reads more than 67108864 bytes/
  await assert.rejects(client.call('Txn', { success: [put('refused/a'), ...often] }), refused)
  await assertUndone(server, 9)
  // Entries that are counted, or beyond a limit, are not read.
  const counted = often.map(() => ({ requestRange: { ...all, countOnly: true } }))
  const first = { requestRange: { ...all, limit: 1 } }
  const { responses } = await client.call('Txn', { success: [...counted, first] })
  assert.deepEqual(
    new Set(responses.map(({ responseRange }) => responseRange?.count)),
    new Set([8]),
  )
  const last = responses.at(-1)?.responseRange
  assert.deepEqual([last?.kvs.length, last?.more], [1, true])
})

test('a transaction with very many steps in nested ones is refused before any of them', async () => {
  await using server = await openTestServer()
  const read: Operation = { requestRange: { key: b('a') } }
  const of = (length: number, each: Operation): MessageDraft<'TxnRequest'> => ({
    success: Array.from({ length }, () => each),
  })
  const deep = (count: number): MessageDraft<'TxnRequest'> =>
    of(40, { requestTxn: of(count, { requestTxn: of(10, read) }) })
  const { client } = server
  assert.equal((await client.call('Txn', deep(20))).succeeded, true)
  await assert.rejects(client.call('Txn', deep(40)), /3: etcdserver: too many operations/)
})
