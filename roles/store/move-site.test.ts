import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, exitCodes, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  openEtcdStore,
  openSqliteStore,
  type EtcdStore,
  type Store,
  type StoreEvent,
} from '@skerry/store'
import { startTestEtcd, whyNoEtcd } from '@skerry/testing'
import { moveSiteToEtcd, moveSiteToSqlite } from './move-site.ts'

const skip = await whyNoEtcd()
const { signal } = new AbortController()
const context = { clock: systemClock, log: silentLogger, random: systemRandom, signal }
const prefix = '/skerry/site'
/** The name that startTestEtcd uses. */
const member = { name: 'default', peerUrls: ['http://127.0.0.1:0'], clusterToken: 'test' }

interface Places {
  readonly dataDir: string
  readonly etcdDataDir: string
}

async function inScratch(work: (places: Places) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'move-site-'))
  try {
    const dataDir = join(directory, 'site')
    await mkdir(dataDir)
    await work({ dataDir, etcdDataDir: join(dataDir, 'etcd') })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function move(places: Places, etcdPath = '/usr/bin/etcd') {
  return moveSiteToEtcd({ ...places, prefix, etcdPath, member }, context)
}

async function openSite({ dataDir }: Places) {
  return openSqliteStore(join(dataDir, 'store.db'), {}, context)
}

/** Everything that clients can learn from a store, from a revision on. */
interface Sight {
  readonly revision: number
  readonly compacted: number
  readonly lists: readonly (readonly string[])[]
  readonly events: readonly string[]
}

async function sightOf(store: Store, from: number, to: number): Promise<Sight> {
  const lists: string[][] = []
  for (let revision = from; revision <= to; revision += 7) {
    const { entries } = await store.list({ prefix: '/registry/', revision })
    lists.push(
      entries.map(({ key, modRevision, createRevision, value }) =>
        [key, modRevision, createRevision, Buffer.from(value)].join(' '),
      ),
    )
  }
  const events: StoreEvent[] = []
  const abort = new AbortController()
  const watch = store.watch({ prefix: '/registry/', afterRevision: from }, abort.signal)
  for await (const batch of watch) {
    events.push(...batch.events)
    if ((events.at(-1)?.modRevision ?? 0) >= to) break
  }
  return {
    revision: await store.revision(),
    compacted: await store.compactedRevision(),
    lists,
    events: events.map(({ type, key, modRevision, value, previous }) =>
      [type, key, modRevision, Buffer.from(value), previous?.modRevision].join(' '),
    ),
  }
}

/** Fills a store with objects, changes, deletes and a lease. */
async function fill(store: Store): Promise<void> {
  const { leaseId } = await store.grantLease(3_600)
  for (let index = 0; index < 60; index += 1) {
    const key = `/registry/configmaps/default/${index % 25}`
    const value = index % 9 === 8 ? undefined : Buffer.from(`value ${index} ß`)
    const lease = index % 6 === 0 && value ? { leaseId } : {}
    await store.write({ key, ...(value ? { value } : {}), ...lease })
  }
  await store.write({ key: '/replicas/keys', value: Buffer.from('sealed, of another time') })
  await store.compact(20)
  await store.write({ key: '/registry/pods/last', value: Buffer.alloc(900_000, 'x') })
}

async function serving(
  { etcdDataDir }: Places,
  work: (store: EtcdStore, endpoints: string[]) => Promise<void>,
): Promise<void> {
  await using etcd = await startTestEtcd({ dataDir: etcdDataDir })
  const endpoints = [etcd.endpoint]
  await using store = await openEtcdStore({ endpoints, prefix }, context, signal)
  await work(store, endpoints)
}

test('a site moves to etcd and back, and clients see no difference', { skip }, () =>
  inScratch(async (places) => {
    let before: Sight
    {
      await using store = await openSite(places)
      await fill(store)
      before = await sightOf(store, 20, await store.revision())
    }
    const moved = await move(places)
    assert.equal(moved?.revision, before.revision)
    assert.deepEqual((await readdir(places.dataDir)).toSorted(), [
      'etcd',
      'store.db.moved-to-etcd-1',
    ])
    assert.equal(await move(places), undefined, 'there is nothing more to move')
    await serving(places, async (store, endpoints) => {
      assert.deepEqual(await sightOf(store, 20, before.revision), before)
      assert.equal((await store.get('/replicas/keys')).entry, undefined)
      const { revision } = await store.write({ key: '/registry/new', value: Buffer.from('1') })
      assert.equal(revision, before.revision + 1)
      const made = await moveSiteToSqlite({ ...places, etcd: { endpoints, prefix } }, context)
      assert.deepEqual(made, { revision, renumbered: 0, isHistoryLost: false })
      await assert.rejects(
        moveSiteToSqlite({ ...places, etcd: { endpoints, prefix } }, context),
        /a store is there/,
      )
      await using back = await openSite(places)
      assert.deepEqual(await sightOf(back, 20, revision), await sightOf(store, 20, revision))
    })
  }),
)

test('a move that was interrupted before the store was set aside begins again', { skip }, () =>
  inScratch(async (places) => {
    {
      await using store = await openSite(places)
      await fill(store)
    }
    await mkdir(join(places.etcdDataDir, 'member'), { recursive: true })
    await mkdir(`${places.etcdDataDir}.part`)
    await assert.rejects(move(places), /which of the two is newer is unknown/)
    await writeFile(`${places.etcdDataDir}.move.json`, '{}\n')
    assert.notEqual(await move(places), undefined)
    await serving(places, async (store) => {
      assert.equal((await store.list({ prefix: '/registry/pods/' })).entries.length, 1)
    })
    assert.deepEqual((await readdir(places.dataDir)).toSorted(), [
      'etcd',
      'store.db.moved-to-etcd-1',
    ])
  }),
)

test('a program that is not etcd changes nothing', () =>
  inScratch(async (places) => {
    {
      await using store = await openSite(places)
      await fill(store)
      await assert.rejects(move(places), { exitCode: exitCodes.alreadyRunning })
    }
    await assert.rejects(move(places, '/bin/false'), (error: unknown) => {
      return error instanceof ExpectedError && /etcd ended with 1/.test(error.message)
    })
    await assert.rejects(move(places, '/no/such/etcd'), /ENOENT/)
    assert.deepEqual(await readdir(places.dataDir), ['store.db'])
  }))

test('a key that shares its revision in etcd has one of its own on the way back', { skip }, () =>
  inScratch(async (places) => {
    await using etcd = await startTestEtcd()
    const options = { endpoints: [etcd.endpoint], prefix }
    await using store = await openEtcdStore(options, context, signal)
    const value = Buffer.from('x')
    for (let index = 0; index < 2; index += 1) await store.write({ key: '/registry/a', value })
    const companions = [{ key: '/registry/address', value, expectRevision: 0 }]
    const shared = await store.write({ key: '/registry/service', value, companions })
    await store.write({ key: '/masters/one', value })
    const { revision } = await store.write({ key: '/registry/a', value })
    const made = await moveSiteToSqlite({ ...places, etcd: options }, context)
    assert.deepEqual(made, { revision: revision + 1, renumbered: 1, isHistoryLost: false })
    await using back = await openSite(places)
    const { entries } = await back.list({ prefix: '/' })
    assert.deepEqual(
      entries.map(({ key, modRevision }) => [key, modRevision]),
      [
        ['/registry/a', revision],
        ['/registry/address', revision + 1],
        ['/registry/service', shared.revision],
      ],
    )
  }),
)
