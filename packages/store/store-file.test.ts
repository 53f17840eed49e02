import assert from 'node:assert/strict'
import { mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { exitCodes, ExpectedError, silentLogger, simulatedClock } from '@skerry/base'
import { restoreSqliteStore } from './sqlite-backup.ts'
import { openDatabase } from './sqlite-database.ts'
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
import { CompactedError } from './store.ts'
import { StoreClosedError, StoreFullError } from './store-errors.ts'

interface Scene extends AsyncDisposable {
  readonly path: string
  readonly clock: ReturnType<typeof simulatedClock>
  open(options?: SqliteStoreOptions): ReturnType<typeof openSqliteStore>
}

async function scene(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'store-file-'))
  const path = join(directory, 'data', 'state.db')
  const clock = simulatedClock()
  return {
    path,
    clock,
    open: (options = {}) => openSqliteStore(path, options, { clock, log: silentLogger }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

const value = (text: string): Uint8Array => new TextEncoder().encode(text)

function isExpected(exitCode: number, words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ExpectedError, String(error))
    assert.equal(error.exitCode, exitCode)
    assert.match(error.message, words)
    return true
  }
}

test('a store keeps its entries, revision and compaction across a restart', async () => {
  await using it = await scene()
  let at = 0
  {
    await using store = await it.open()
    await store.write({ key: '/a', value: value('1') })
    at = (await store.write({ key: '/a' })).revision
    await store.compact(at)
  }
  await using store = await it.open({ check: 'always' })
  assert.equal(await store.revision(), at)
  assert.equal(await store.compactedRevision(), at)
  assert.equal((await store.write({ key: '/b', value: value('2') })).revision, at + 1)
})

test('only the owner can read the file', async () => {
  await using it = await scene()
  await using store = await it.open()
  await store.write({ key: '/secret', value: value('x') })
  for (const path of [it.path, `${it.path}-wal`]) assert.equal((await stat(path)).mode & 0o077, 0)
})

test('a second process is refused while the first runs', async () => {
  await using it = await scene()
  await using _store = await it.open()
  await assert.rejects(
    it.open(),
    isExpected(exitCodes.alreadyRunning, /another process has it open/),
  )
})

test('a closed store refuses, and waiting writes were committed', async () => {
  await using it = await scene()
  const store = await it.open()
  const waiting = store.write({ key: '/a', value: value('1') })
  const watching = store.watch({ prefix: '/', afterRevision: 0 }, new AbortController().signal)
  const next = watching[Symbol.asyncIterator]().next()
  await store[Symbol.asyncDispose]()
  assert.equal((await waiting).isApplied, true)
  // Either the write reaches the watcher or the end does, but the wait ends.
  await next.catch((error: unknown) => assert.ok(error instanceof StoreClosedError))
  await assert.rejects(store.get('/a'), StoreClosedError)
  await assert.rejects(store.write({ key: '/a' }), StoreClosedError)
  await using again = await it.open()
  assert.ok((await again.get('/a')).entry)
})

const brokenFiles: readonly {
  what: string
  words: RegExp
  breakIt: (path: string) => Promise<void>
}[] = [
  {
    what: 'a newer schema',
    words: /schema version 99 is newer.*newer program/,
    breakIt: async (path) => {
      using database = openDatabase(path)
      database.exec('PRAGMA user_version = 99')
    },
  },
  {
    what: 'another program’s database',
    words: /another program's database/,
    breakIt: async (path) => {
      await rm(path)
      using database = openDatabase(path)
      database.exec('CREATE TABLE theirs (x)')
    },
  },
  {
    what: 'a text file',
    words: /damaged or is not a store; restore a backup/,
    breakIt: (path) =>
      writeFile(path, 'this is not a database, only some text that is long enough'),
  },
  {
    what: 'a log without its main file',
    words: /the file is missing but its .*-wal is there; restore a backup/,
    breakIt: async (path) => {
      await rm(path)
      await writeFile(`${path}-wal`, 'left over')
    },
  },
  {
    what: 'a damaged page',
    words: /damaged/,
    breakIt: async (path) => {
      await using file = await open(path, 'r+')
      const { size } = await file.stat()
      const noise = Buffer.alloc(4_096, 0xa5)
      for (let at = 4_096; at < size; at += 8_192) await file.write(noise, 0, 4_096, at)
    },
  },
]

for (const { what, words, breakIt } of brokenFiles) {
  test(`${what} is refused with a remedy`, async () => {
    await using it = await scene()
    {
      await using store = await it.open()
      for (let index = 0; index < 50; index += 1) {
        await store.write({ key: `/k/${index}`, value: new Uint8Array(2_000) })
      }
    }
    await breakIt(it.path)
    await assert.rejects(it.open({ check: 'always' }), isExpected(exitCodes.dataDirectory, words))
  })
}

test('a file cut off before its first commit becomes a new store', async () => {
  await using it = await scene()
  await (await it.open())[Symbol.asyncDispose]()
  await writeFile(it.path, '')
  await using store = await it.open()
  assert.equal(await store.revision(), 1)
})

test('a full store refuses clearly, loses nothing, and goes on when space returns', async () => {
  await using it = await scene()
  await using store = await it.open({ bytesMax: 400_000 })
  const stored: string[] = []
  const fill = async (): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const key = `/fill/${index % 20}`
      await store.write({ key, value: new Uint8Array(4_000) })
      stored.push(key)
    }
  }
  await assert.rejects(fill(), StoreFullError)
  const together = await Promise.allSettled([
    store.write({ key: '/big', value: new Uint8Array(300_000) }),
    store.write({ key: '/fill/0', expectRevision: 1 }),
  ])
  assert.deepEqual(
    together.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  const { entries } = await store.list({ prefix: '/fill/' })
  assert.equal(entries.length, new Set(stored).size)
  await store.compact(await store.revision())
  const { revision } = await store.write({ key: '/after', value: new Uint8Array(4_000) })
  assert.equal((await store.get('/after')).entry?.modRevision, revision)
})

test('a lease goes on after a restart with the time it had left', async () => {
  await using it = await scene()
  {
    await using store = await it.open()
    const { leaseId } = await store.grantLease(10)
    await store.write({ key: '/leased', value: value('x'), leaseId })
    await it.clock.advance(7_000)
  }
  await it.clock.advance(3_600_000)
  await using store = await it.open()
  await it.clock.advance(2_000)
  assert.ok((await store.get('/leased')).entry, 'one second is left')
  await it.clock.advance(2_000)
  assert.equal((await store.get('/leased')).entry, undefined)
})

test('a backup made while writes go on is a whole store', async () => {
  await using it = await scene()
  const copyPath = `${it.path}.backup`
  await using store = await it.open({ limits: { backupSliceRows: 1 } })
  for (let index = 0; index < 40; index += 1) {
    await store.write({ key: `/before/${index}`, value: new Uint8Array(2_000) })
  }
  let isDone = false
  const writing = (async () => {
    for (let index = 0; !isDone; index += 1)
      await store.write({ key: `/during/${index}`, value: value('x') })
  })()
  await store.backup(copyPath)
  isDone = true
  await writing
  await assert.rejects(
    store.backup(copyPath),
    isExpected(exitCodes.dataDirectory, /the file exists/),
  )
  await using copy = await openSqliteStore(
    copyPath,
    { check: 'always' },
    { clock: it.clock, log: silentLogger },
  )
  const { entries, revision } = await copy.list({ prefix: '/' })
  assert.ok(entries.length >= 40)
  // Every write is one new key here, so a whole copy has no gap.
  assert.equal(entries.length, revision - 1)
})

test('a restore brings the backup back, jumps ahead, and keeps the replaced store', async () => {
  await using it = await scene()
  const copyPath = `${it.path}.backup`
  let newest = 0
  {
    await using store = await it.open()
    await store.write({ key: '/kept', value: value('1') })
    await store.backup(copyPath)
    newest = (await store.write({ key: '/lost', value: value('2') })).revision
    const busy = isExpected(exitCodes.alreadyRunning, /a process has it open/)
    await assert.rejects(restoreSqliteStore(copyPath, it.path), busy)
  }
  const { revision, replacedPath } = await restoreSqliteStore(copyPath, it.path)
  assert.ok(revision > newest)
  assert.equal(replacedPath, `${it.path}.replaced-1`)
  await using store = await it.open({ check: 'always' })
  assert.deepEqual(
    (await store.list({ prefix: '/' })).entries.map(({ key }) => key),
    ['/kept'],
  )
  await assert.rejects(store.get('/kept', newest), CompactedError)
  assert.equal((await store.write({ key: '/next', value: value('3') })).revision, revision + 1)
  await store.compact(revision + 1)
})

test('a damaged backup is refused before the store is touched', async () => {
  await using it = await scene()
  const copyPath = `${it.path}.backup`
  {
    await using store = await it.open()
    await store.write({ key: '/kept', value: value('1') })
  }
  await writeFile(copyPath, 'no backup at all, only text that somebody saved under this name')
  const refused = isExpected(exitCodes.dataDirectory, /damaged or is not a store/)
  await assert.rejects(restoreSqliteStore(copyPath, it.path), refused)
  await using store = await it.open()
  assert.ok((await store.get('/kept')).entry)
  assert.deepEqual(
    (await readdir(join(it.path, '..'))).filter((name) => name.includes('part')),
    [],
  )
})
