import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EtcdClient, type StatusOfCall } from './testing/etcd-client.ts'
import { openTestServer } from './testing/open-test-server.ts'

const b = (text: string): Uint8Array => Buffer.from(text)
const everything = { key: b('\0'), rangeEnd: b('\0') }

test('a watch is sent each event once and in order, though its reader pauses', async () => {
  await using server = await openTestServer()
  using reader = new EtcdClient(server.endpoint)
  const stream = reader.stream('Watch')
  stream.send({ createRequest: { ...everything, startRevision: 1 } })
  const events = stream[Symbol.asyncIterator]()
  assert.equal((await events.next()).value?.created, true)
  // Far more than a stream may leave unread, while nobody reads.
  const value = Buffer.alloc(64 * 1024)
  for (let at = 0; at < 200; at += 1) {
    await server.client.call('Put', { key: b(`key/${at}`), value })
  }
  const seen: number[] = []
  while (seen.length < 200) {
    const next = await events.next()
    if (next.done) break
    seen.push(...next.value.events.map(({ kv }) => kv?.modRevision ?? 0))
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 200 }, (_, at) => at + 2),
  )
})

test('progress is reported for the stream once all of its watches have caught up', async () => {
  await using server = await openTestServer()
  const { client } = server
  for (let at = 0; at < 50; at += 1) await client.call('Put', { key: b(`k${at}`), value: b('x') })
  const stream = client.stream('Watch')
  stream.send({ createRequest: { ...everything, startRevision: 1 } })
  stream.send({ progressRequest: {} })
  let revision = 0
  for await (const answer of stream) {
    revision = Math.max(revision, ...answer.events.map(({ kv }) => kv?.modRevision ?? 0))
    if (answer.watchId !== -1n) continue
    assert.equal(answer.header?.revision, 51)
    break
  }
  assert.equal(revision, 51)
  stream.cancel()
})

test('a client chooses the ids of watches, and cancels them', async () => {
  await using server = await openTestServer()
  const stream = server.client.stream('Watch')
  const watchId = 2n ** 62n
  stream.send({ createRequest: { ...everything, watchId } })
  stream.send({ createRequest: { ...everything, watchId } })
  stream.send({ createRequest: everything })
  stream.send({ cancelRequest: { watchId } })
  const answers = []
  for await (const { watchId: id, created, canceled, cancelReason } of stream) {
    answers.push([id, created, canceled, cancelReason])
    if (answers.length === 4) break
  }
  assert.deepEqual(answers, [
    [watchId, true, false, ''],
    [-1n, true, true, 'mvcc: duplicate watch ID provided on the WatchStream'],
    [0n, true, false, ''],
    [watchId, false, true, ''],
  ])
  stream.cancel()
})

test('a lease that expires takes its keys with it in one revision', async () => {
  await using server = await openTestServer()
  const { client } = server
  const { id, ttl } = await client.call('LeaseGrant', { ttl: 1 })
  assert.equal(ttl, 2)
  for (const key of ['b', 'a']) await client.call('Put', { key: b(key), value: b('x'), lease: id })
  const stream = client.stream('Watch')
  stream.send({ createRequest: { ...everything, startRevision: 4 } })
  for await (const { events } of stream) {
    if (events.length === 0) continue
    assert.deepEqual(
      events.map(({ type, kv }) => [type, Buffer.from(kv?.key ?? []).toString(), kv?.modRevision]),
      [
        [1, 'a', 4],
        [1, 'b', 4],
      ],
    )
    break
  }
  stream.cancel()
  await assert.rejects(
    client.call('LeaseRevoke', { id }),
    (error: StatusOfCall) => error.code === 5,
  )
})

test('a restart keeps revisions, leases and history', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-restart-'))
  const path = join(directory, 'etcd.db')
  try {
    {
      await using server = await openTestServer({ path })
      await server.client.call('LeaseGrant', { id: 7n, ttl: 1_000 })
      await server.client.call('Put', { key: b('a'), value: b('1'), lease: 7n })
      await server.client.call('Put', { key: b('a'), value: b('2'), lease: 7n })
    }
    await using server = await openTestServer({ path })
    const { kvs, header } = await server.client.call('Range', { key: b('a'), revision: 2 })
    assert.deepEqual([header?.revision, Buffer.from(kvs[0]?.value ?? []).toString()], [3, '1'])
    const { keys } = await server.client.call('LeaseTimeToLive', { id: 7n, keys: true })
    assert.equal(keys.length, 1)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('a full store raises the alarm, and serves again when there is room and it is disarmed', async () => {
  await using server = await openTestServer({ limits: { quotaBytes: 4_000_000 } })
  const { client } = server
  const value = Buffer.alloc(500_000)
  const put = (): Promise<unknown> => client.call('Put', { key: b('a'), value })
  await assert.rejects(async () => {
    for (let at = 0; at < 30; at += 1) await put()
  }, /8: etcdserver: mvcc: database space exceeded/)
  assert.equal((await client.call('Alarm', {})).alarms.length, 1)
  const { header } = await client.call('DeleteRange', { key: b('a') })
  await client.call('Compact', { revision: header?.revision ?? 0, physical: true })
  await client.call('Defragment', {})
  await assert.rejects(put(), /database space exceeded/)
  await client.call('Alarm', { action: 2, alarm: 1 })
  await put()
})
