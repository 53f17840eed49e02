import assert from 'node:assert/strict'
import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openSnapshot } from '@skerry/etcd-snapshot'
import { saveStore } from './snapshots/save-store.ts'
import { storeFromSnapshot } from './snapshots/store-from-snapshot.ts'
import type { EtcdClient } from './testing/etcd-client.ts'
import { openTestServer } from './testing/open-test-server.ts'

const { signal } = new AbortController()
const deps = { clock: systemClock, log: silentLogger, random: systemRandom }

async function inScratch(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-server-snapshot-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const bytes = (text: string): Buffer => Buffer.from(text)

/** Writes changes of all kinds: several in one revision, deletes, a lease, and a compaction that keeps some history. */
async function fill(client: EtcdClient): Promise<void> {
  await client.call('LeaseGrant', { id: 99n, ttl: 600 })
  for (let index = 0; index < 40; index += 1) {
    const value = Buffer.alloc(index * 100, index)
    const lease = index % 5 === 0 ? 99n : 0n
    await client.call('Put', { key: bytes(`k${index % 12}`), value, lease })
  }
  const put = (key: string) => ({ requestPut: { key: bytes(key), value: bytes('together') } })
  await client.call('Txn', { success: [put('a'), put('b'), put('k1')] })
  await client.call('DeleteRange', { key: bytes('k2'), rangeEnd: bytes('k4') })
  await client.call('Compact', { revision: 20, physical: true })
  await client.call('Put', { key: Buffer.from([0, 255, 128]), value: bytes('no text') })
}

async function save(client: EtcdClient, path: string): Promise<void> {
  await using file = await open(path, 'w')
  const stream = client.stream('Snapshot')
  stream.send({})
  stream.end()
  let remaining = Infinity
  for await (const answer of stream) {
    assert.ok(answer.remainingBytes < remaining)
    remaining = answer.remainingBytes
    await file.writeFile(answer.blob)
  }
  assert.equal(remaining, 0)
}

test('a store that is made of a snapshot has the same history', () =>
  inScratch(async (directory) => {
    const path = join(directory, 'saved')
    const copyPath = join(directory, 'etcd.db')
    let hash: number
    {
      await using server = await openTestServer()
      await fill(server.client)
      ;({ hash } = await server.client.call('HashKV', { revision: 0 }))
      await save(server.client, path)
    }
    {
      await using snapshot = await openSnapshot(path)
      const made = await storeFromSnapshot(copyPath, snapshot, { log: silentLogger, signal })
      assert.equal(made.revision, 44)
      await assert.rejects(
        storeFromSnapshot(copyPath, snapshot, { log: silentLogger, signal }),
        /a store is there/,
      )
    }
    {
      await using copy = await openTestServer({ path: copyPath })
      const { client } = copy
      const found = await client.call('HashKV', { revision: 0 })
      assert.equal(found.hash, hash)
      assert.equal(found.compactRevision, 20)
      const lease = await client.call('LeaseTimeToLive', { id: 99n, keys: true })
      assert.equal(lease.grantedTtl, 600)
      assert.ok(lease.keys.length > 0)
      await assert.rejects(client.call('Range', { key: bytes('a'), revision: 19 }), /compacted/)
      const { header } = await client.call('Put', { key: bytes('a'), value: bytes('1') })
      assert.equal(header?.revision, 45)
    }
    const saved = await saveStore(copyPath, join(directory, 'again'), deps, { signal })
    assert.equal(saved.revision, 45)
    const names = await readdir(directory)
    const reserve = 'etcd.db.reserve'
    assert.deepEqual(names.toSorted(), ['again', 'etcd.db', reserve, 'saved'])
  }))

test('a snapshot has one revision, while writes and compactions go on', () =>
  inScratch(async (directory) => {
    await using server = await openTestServer()
    const { client } = server
    await fill(client)
    let isSaved = false
    const writing = (async () => {
      for (let index = 0; !isSaved; index += 1) {
        const both = ['x', 'y'].map((key) => ({
          requestPut: { key: bytes(key), value: bytes(String(index)) },
        }))
        const { header } = await client.call('Txn', { success: both })
        if (index % 10 === 9) await client.call('Compact', { revision: header?.revision ?? 0 })
      }
    })()
    const paths = [1, 2, 3].map((each) => join(directory, String(each)))
    await Promise.all(paths.map((path) => save(client, path)))
    isSaved = true
    await writing
    for (const path of paths) {
      await using snapshot = await openSnapshot(path)
      const newest = new Map<string, string>()
      for await (const slice of snapshot.records()) {
        for (const { key, value } of slice) {
          newest.set(Buffer.from(key).toString('latin1'), Buffer.from(value).toString())
        }
      }
      assert.equal(newest.get('x'), newest.get('y'))
      assert.ok(newest.has('k1'))
    }
  }))

test('snapshots leave no file next to the store, and the file of a killed one is removed', () =>
  inScratch(async (directory) => {
    const path = join(directory, 'etcd.db')
    await writeFile(`${path}.snapshot-7.part`, 'half')
    await using server = await openTestServer({ path })
    await fill(server.client)
    const stream = server.client.stream('Snapshot')
    stream.send({})
    for await (const _ of stream) break
    stream.cancel()
    await save(server.client, join(directory, 'saved'))
    const names = (await readdir(directory)).filter((name) => name.includes('snapshot'))
    assert.deepEqual(names, [])
  }))

test('a snapshot with users is refused, because nobody would ask for their passwords', () =>
  inScratch(async (directory) => {
    const path = join(directory, 'saved')
    {
      await using server = await openTestServer()
      await fill(server.client)
      await save(server.client, path)
    }
    await using snapshot = await openSnapshot(path)
    const withUsers = { ...snapshot, hasUsers: true }
    await assert.rejects(
      storeFromSnapshot(join(directory, 'etcd.db'), withUsers, { log: silentLogger, signal }),
      /users with passwords/,
    )
  }))
