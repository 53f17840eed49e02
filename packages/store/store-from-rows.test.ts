import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, exitCodes, silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import { createStoreFromRows, type ForeignRow } from './store-from-rows.ts'
import { openStoreRows } from './store-rows.ts'
import { CompactedError, type StoreEvent } from './store.ts'

const deps = { clock: systemClock, log: silentLogger }

async function inScratch(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'store-from-rows-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function put(revision: number, key: string, createRevision = revision, leaseId = 0): ForeignRow {
  const value = Buffer.from(`${key}@${revision}`)
  return { revision, key, createRevision, isDeleted: false, leaseId, value }
}

function gone(revision: number, key: string): ForeignRow {
  return { ...put(revision, key), isDeleted: true, createRevision: 0, value: Buffer.alloc(0) }
}

interface History {
  revision: number
  compacted: number
  leases?: { leaseId: number; ttlSeconds: number }[]
}

async function make(directory: string, history: History, rows: readonly ForeignRow[]) {
  const source = { leases: [], ...history, rows: slices(rows) }
  return createStoreFromRows(join(directory, 'store.db'), source)
}

async function* slices(rows: readonly ForeignRow[]): AsyncGenerator<readonly ForeignRow[], void> {
  for (let at = 0; at < rows.length; at += 2) yield rows.slice(at, at + 2)
}

async function opened(
  directory: string,
  work: (store: SqliteStore) => Promise<void>,
): Promise<void> {
  await using store = await openSqliteStore(join(directory, 'store.db'), {}, deps)
  await work(store)
}

async function keysAt(store: SqliteStore, revision: number): Promise<Record<string, number>> {
  const { entries } = await store.list({ prefix: '/', revision })
  return Object.fromEntries(entries.map(({ key, modRevision }) => [key, modRevision]))
}

async function eventsAfter(
  store: SqliteStore,
  afterRevision: number,
  count: number,
): Promise<StoreEvent[]> {
  const seen: StoreEvent[] = []
  const { signal } = new AbortController()
  for await (const { events } of store.watch({ prefix: '/', afterRevision }, signal)) {
    seen.push(...events)
    if (seen.length >= count) break
  }
  return seen
}

test('a foreign history keeps its revisions, and a watch from an old one goes on', () =>
  inScratch(async (directory) => {
    const rows = [put(2, '/a'), put(4, '/b'), put(5, '/a', 2), gone(7, '/b'), put(9, '/b')]
    const made = await make(directory, { revision: 9, compacted: 0 }, rows)
    assert.deepEqual(made, { revision: 9, renumbered: 0, isHistoryLost: false })
    await opened(directory, async (store) => {
      assert.equal(await store.revision(), 9)
      assert.deepEqual(await keysAt(store, 4), { '/a': 2, '/b': 4 })
      assert.deepEqual(await keysAt(store, 8), { '/a': 5 })
      assert.deepEqual(await keysAt(store, 9), { '/a': 5, '/b': 9 })
      const events = await eventsAfter(store, 4, 3)
      assert.deepEqual(
        events.map(({ type, key, modRevision }) => [type, key, modRevision]),
        [
          ['put', '/a', 5],
          ['delete', '/b', 7],
          ['put', '/b', 9],
        ],
      )
      assert.equal(Buffer.from(events[1]?.value ?? []).toString(), '/b@4')
      assert.equal((await store.write({ key: '/c', value: Buffer.from('x') })).revision, 10)
    })
  }))

test('compacted history stays so, and the newest revision is that of all keys', () =>
  inScratch(async (directory) => {
    const rows = [put(2, '/a'), put(3, '/b'), put(4, '/a', 2), gone(5, '/b'), put(8, '/a', 2)]
    await make(directory, { revision: 20, compacted: 6 }, rows)
    await opened(directory, async (store) => {
      assert.equal(await store.revision(), 20)
      assert.equal(await store.compactedRevision(), 6)
      assert.deepEqual(await keysAt(store, 6), { '/a': 4 })
      assert.deepEqual(await keysAt(store, 19), { '/a': 8 })
      await assert.rejects(store.list({ prefix: '/', revision: 5 }), CompactedError)
      await store.compact(20)
      assert.equal((await store.get('/a')).entry?.modRevision, 8)
    })
  }))

test('keys that shared a revision get new ones, and every watch learns them', () =>
  inScratch(async (directory) => {
    const rows = [
      put(2, '/a'),
      put(5, '/service'),
      put(5, '/address'),
      put(5, '/port'),
      put(6, '/port', 5),
      put(8, '/b'),
    ]
    const made = await make(directory, { revision: 8, compacted: 5 }, rows)
    assert.deepEqual(made, { revision: 9, renumbered: 1, isHistoryLost: false })
    await opened(directory, async (store) => {
      const before = { '/a': 2, '/b': 8, '/port': 6, '/service': 5 }
      assert.deepEqual(await keysAt(store, 9), { ...before, '/address': 9 })
      assert.deepEqual(Object.keys(await keysAt(store, 8)).toSorted(), [
        '/a',
        '/address',
        '/b',
        '/port',
        '/service',
      ])
      const [event] = await eventsAfter(store, 8, 1)
      assert.equal(event?.key, '/address')
      assert.equal(Buffer.from(event?.value ?? []).toString(), '/address@5')
    })
  }))

test('without a free revision all must list again, and nothing is lost', () =>
  inScratch(async (directory) => {
    const rows = [put(2, '/a'), put(2, '/b'), put(2, '/c'), put(3, '/b', 2), gone(4, '/c')]
    const made = await make(directory, { revision: 4, compacted: 2 }, rows)
    assert.equal(made.isHistoryLost, true)
    await opened(directory, async (store) => {
      const revision = await store.revision()
      assert.equal(revision, made.revision)
      assert.deepEqual(Object.keys(await keysAt(store, revision)), ['/a', '/b'])
      assert.equal((await store.get('/b')).entry?.modRevision, 3)
      await assert.rejects(eventsAfter(store, 4, 1), CompactedError)
    })
  }))

test('leases come along with their keys', () =>
  inScratch(async (directory) => {
    const leases = [{ leaseId: 77, ttlSeconds: 30 }]
    await make(directory, { revision: 2, compacted: 0, leases }, [put(2, '/a', 2, 77)])
    await opened(directory, async (store) => {
      assert.deepEqual(await store.keepLeaseAlive(77), { ttlSeconds: 30 })
      await store.revokeLease(77)
      assert.equal((await store.get('/a')).entry, undefined)
    })
  }))

const contradictions: readonly (readonly [what: string, rows: ForeignRow[]])[] = [
  ['a revision twice after the compacted one', [put(5, '/a'), put(5, '/b')]],
  ['a revision that is out of order', [put(6, '/a'), put(5, '/b')]],
  ['a delete of nothing', [gone(5, '/a')]],
  ['a change of a key that was never created', [put(6, '/a', 5)]],
  ['a revision after the newest', [put(10, '/a')]],
]

for (const [what, rows] of contradictions) {
  test(`${what} is refused, and there is no store`, () =>
    inScratch(async (directory) => {
      await assert.rejects(make(directory, { revision: 9, compacted: 2 }, rows), ExpectedError)
      assert.deepEqual(await readdir(directory), [])
    }))
}

test('a store that is there is kept next to the new one, and one in use is refused', () =>
  inScratch(async (directory) => {
    const path = join(directory, 'store.db')
    {
      await using store = await openSqliteStore(path, {}, deps)
      await store.write({ key: '/old', value: Buffer.from('x') })
      await assert.rejects(make(directory, { revision: 2, compacted: 0 }, [put(2, '/a')]), {
        exitCode: exitCodes.alreadyRunning,
      })
    }
    const made = await make(directory, { revision: 2, compacted: 0 }, [put(2, '/a')])
    using rows = await openStoreRows(made.replacedPath ?? '', silentLogger)
    assert.equal(rows.count([]), 1)
  }))

test('the rows of a store have versions, and a store in use or damaged is refused', () =>
  inScratch(async (directory) => {
    const path = join(directory, 'store.db')
    {
      await using store = await openSqliteStore(path, {}, deps)
      for (const value of ['1', '2']) await store.write({ key: '/a', value: Buffer.from(value) })
      await store.write({ key: '/a' })
      await store.write({ key: '/a', value: Buffer.from('3') })
      await assert.rejects(openStoreRows(path, silentLogger), {
        exitCode: exitCodes.alreadyRunning,
      })
    }
    {
      using rows = await openStoreRows(path, silentLogger)
      const seen: [number, number][] = []
      for await (const slice of rows.rows()) {
        seen.push(...slice.map(({ revision, version }): [number, number] => [revision, version]))
      }
      assert.deepEqual(seen, [
        [2, 1],
        [3, 2],
        [4, 0],
        [5, 1],
      ])
      assert.equal(rows.count(['/b']), 1)
      assert.equal(rows.count(['/a']), 0)
      const retired = await rows.retire('elsewhere')
      assert.deepEqual(await readdir(directory), ['store.db.elsewhere-1'])
      assert.equal(retired, `${path}.elsewhere-1`)
    }
    await assert.rejects(openStoreRows(path, silentLogger), /there is no such store/)
  }))
