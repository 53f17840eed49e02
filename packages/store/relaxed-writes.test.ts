import assert from 'node:assert/strict'
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { storeLimitDefaults } from './limits-table.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
import { CompactedError } from './store.ts'
import { StoreFullError } from './store-errors.ts'

interface Scene extends AsyncDisposable {
  readonly path: string
  readonly clock: ReturnType<typeof simulatedClock>
  open(options?: SqliteStoreOptions, path?: string): Promise<SqliteStore>
  /** Copies what another process would find if this one were killed now, and returns the path of the store. */
  afterKill(): Promise<string>
}

async function scene(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'relaxed-writes-'))
  const path = join(directory, 'data', 'store.db')
  const clock = simulatedClock()
  const open = (options: SqliteStoreOptions = {}, at = path) =>
    openSqliteStore(
      at,
      // Nothing is in memory, so that a copy of the directory is all that a killed process leaves.
      { bootId: 'this', recentDirectory: join(directory, 'missing'), ...options },
      { clock, log: silentLogger },
    )
  return {
    path,
    clock,
    open,
    async afterKill() {
      const copy = await mkdtemp(join(directory, 'killed-'))
      await cp(dirname(path), copy, { recursive: true })
      return join(copy, 'store.db')
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

const value = (text: string): Uint8Array => Buffer.from(text)
const renew = (store: SqliteStore, text: string) =>
  store.write({ key: '/lease', value: value(text), isRelaxed: true })
const keyOf = async (store: SqliteStore, key = '/lease') => {
  const { entry } = await store.get(key)
  return entry && Buffer.from(entry.value).toString()
}

/** The first relaxed write of a store is durable, because it promises revisions to those that follow. */
async function withPromise(store: SqliteStore): Promise<void> {
  await renew(store, 'first')
}

test('relaxed writes are read and watched at once, in the order of all revisions', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  const abort = new AbortController()
  const watching = store.watch({ prefix: '/', afterRevision: 0 }, abort.signal)
  const events = (async () => {
    const seen: string[] = []
    for await (const batch of watching) {
      for (const event of batch.events) seen.push(`${event.key}@${event.modRevision}`)
      if (seen.length >= 4) return seen
    }
    return seen
  })()
  const start = await store.revision()
  await renew(store, 'second')
  await renew(store, 'third')
  await store.write({ key: '/durable', value: value('x') })
  await renew(store, 'fourth')
  assert.equal(await keyOf(store), 'fourth')
  assert.equal((await store.list({ prefix: '/' })).entries.length, 2)
  const keys = ['/lease', '/lease', '/durable', '/lease']
  assert.deepEqual(
    await events,
    keys.map((key, at) => `${key}@${start + 1 + at}`),
  )
  assert.equal((await store.get('/lease', start + 1)).entry?.modRevision, start + 1)
})

test('relaxed writes share one commit, which a durable write or some minutes bring', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  const bytesOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = store.counters.bytesWritten
    await work()
    return store.counters.bytesWritten - before
  }
  const one = await bytesOf(() => store.write({ key: '/lease', value: value('durable') }))
  const many = await bytesOf(async () => {
    for (let count = 0; count < 10; count += 1) await renew(store, `${count}`)
  })
  assert.ok(one >= 8_192, `a durable write is ${one} bytes`)
  assert.ok(many < one, `ten relaxed ones are ${many} bytes`)
  const wal = async (): Promise<number> => (await stat(`${it.path}-wal`)).size
  const before = await wal()
  await it.clock.advance(storeLimitDefaults.relaxedDelayMs)
  assert.ok((await wal()) > before)
  assert.equal((await stat(`${it.path}-recent`)).size, 0)
  assert.equal(store.counters.writes, 12)
})

test('a killed process loses no relaxed write, and the revision goes on', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  await renew(store, 'second')
  const { revision } = await renew(store, 'third')
  const path = await it.afterKill()
  await using next = await it.open({}, path)
  assert.equal(await keyOf(next), 'third')
  assert.equal(await next.revision(), revision)
  assert.equal((await next.write({ key: '/a', value: value('x') })).revision, revision + 1)
})

test('revisions that a power cut took back are never given again', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  const { revision } = await renew(store, 'lost')
  const path = await it.afterKill()
  await rm(`${path}-recent`)
  await using next = await it.open({ bootId: 'the next' }, path)
  assert.equal(await keyOf(next), 'first')
  assert.ok((await next.revision()) > revision)
  const watch = next.watch({ prefix: '/', afterRevision: revision }, new AbortController().signal)
  await assert.rejects(watch[Symbol.asyncIterator]().next(), CompactedError)
})

test('a file of recent writes that belongs to another time is not applied', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  await renew(store, 'older')
  const kept = `${it.path}.kept`
  await copyFile(`${it.path}-recent`, kept)
  await store.write({ key: '/lease', value: value('newer') })
  const path = await it.afterKill()
  await copyFile(kept, `${path}-recent`)
  await using next = await it.open({}, path)
  assert.equal(await keyOf(next), 'newer')
})

test('a relaxed write is durable at once if its file cannot be written', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  await mkdir(`${it.path}-recent`)
  const { revision } = await renew(store, 'second')
  const path = await it.afterKill()
  await using next = await it.open({}, path)
  assert.equal((await next.get('/lease')).entry?.modRevision, revision)
  await rm(`${it.path}-recent`, { recursive: true })
})

test('a full disk refuses the write that does not fit, and keeps relaxed ones before it', async () => {
  await using it = await scene()
  await using store = await it.open({ bytesMax: 200_000 })
  await withPromise(store)
  const { revision } = await renew(store, 'held')
  await assert.rejects(store.write({ key: '/big', value: new Uint8Array(300_000) }), StoreFullError)
  assert.equal(await keyOf(store), 'held')
  assert.equal(await store.revision(), revision)
  const path = await it.afterKill()
  {
    await using next = await it.open({}, path)
    assert.equal((await next.get('/lease')).entry?.modRevision, revision)
  }
  await store.write({ key: '/small', value: value('x') })
  assert.equal(await keyOf(store), 'held')
})

test('a backup has the relaxed writes, and a clean close leaves no file of them', async () => {
  await using it = await scene()
  {
    await using store = await it.open()
    await withPromise(store)
    await renew(store, 'second')
    await store.backup(`${it.path}.backup`)
    await renew(store, 'third')
  }
  await using copy = await it.open({}, `${it.path}.backup`)
  assert.equal(await keyOf(copy), 'second')
  const names = await readdir(dirname(it.path))
  assert.deepEqual(
    names.filter((name) => name.startsWith('store.db-')),
    [],
  )
  await using next = await it.open({ bootId: 'the next' })
  assert.equal(await keyOf(next), 'third')
})

test('history that was compacted while writes were held stays so', async () => {
  await using it = await scene()
  await using store = await it.open()
  await withPromise(store)
  for (let count = 0; count < 5; count += 1) await renew(store, `${count}`)
  const revision = await store.revision()
  await store.compact(revision - 1)
  await renew(store, 'last')
  await assert.rejects(store.get('/lease', revision - 3), CompactedError)
  assert.equal(await keyOf(store), 'last')
  const path = await it.afterKill()
  await using next = await it.open({}, path)
  assert.equal(await keyOf(next), 'last')
})
