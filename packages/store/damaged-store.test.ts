import assert from 'node:assert/strict'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, exitCodes, seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import { errorLogger } from '@skerry/testing'
import { restoreSqliteStore } from './sqlite-backup.ts'
import { openDatabase, sqliteFault } from './sqlite-database.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import type { StoreEvent } from './store.ts'

const clock = simulatedClock()
const keys = Array.from({ length: 60 }, (_, index) => `/k/${String(index).padStart(2, '0')}`)
const textOf = (key: string): string =>
  `value of ${key} ${'.'.repeat(key === '/k/07' ? 9_000 : 300)}`

interface Scene extends AsyncDisposable {
  readonly path: string
  readonly lines: string[]
  open(): Promise<SqliteStore>
}

/** Creates a closed store in which each key was written twice. */
async function filledStore(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'damaged-store-'))
  const path = join(directory, 'store.db')
  const { log, lines } = errorLogger()
  const openIt = () => openSqliteStore(path, {}, { clock, log })
  {
    await using store = await openIt()
    for (const key of keys) await store.write({ key, value: Buffer.from('an older value') })
    for (const key of keys) await store.write({ key, value: Buffer.from(textOf(key)) })
  }
  lines.length = 0
  return {
    path,
    lines,
    open: openIt,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

async function flip(path: string, offset: number, mask = 0x01): Promise<void> {
  await using file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, offset)
  await file.write(Buffer.from([(byte[0] ?? 0) ^ mask]), 0, 1, offset)
}

/** Damages the text everywhere, because pages keep old copies in their free space. */
async function flipAfter(path: string, text: string, distance: number): Promise<void> {
  const whole = await readFile(path)
  let at = whole.indexOf(text)
  assert.ok(at > 0, text)
  for (; at > 0; at = whole.indexOf(text, at + 1)) await flip(path, at + distance)
}

async function replay(store: SqliteStore): Promise<StoreEvent[]> {
  const events: StoreEvent[] = []
  const last = await store.revision()
  for await (const batch of store.watch(
    { prefix: '/', afterRevision: 1 },
    new AbortController().signal,
  )) {
    events.push(...batch.events)
    if (batch.revision >= last) break
  }
  return events
}

for (const key of ['/k/03', '/k/07']) {
  test(`a flipped bit in the value of ${key} is named, the rest is served`, async () => {
    await using it = await filledStore()
    await flipAfter(it.path, `value of ${key}`, 100)
    await using store = await it.open()
    const { entry } = await store.get(key)
    assert.deepEqual([entry?.isDamaged, entry?.value.length], [true, 0])
    const { entries } = await store.list({ prefix: '/' })
    assert.deepEqual(
      entries.map((one) => one.key),
      keys,
    )
    for (const one of entries) {
      if (one.key === key) assert.equal(one.isDamaged, true)
      else assert.equal(Buffer.from(one.value).toString(), textOf(one.key))
    }
    const bad = (await replay(store)).filter(({ isDamaged }) => isDamaged)
    assert.deepEqual(
      bad.map((event) => event.key),
      [key],
    )
    assert.equal(it.lines.length, 1, it.lines.join(''))
    assert.match(it.lines[0] ?? '', /Stored value is damaged/)
    assert.ok(it.lines[0]?.includes(key))
    const copy = `${it.path}.backup`
    await store.backup(copy)
    const target = `${it.path}.restored`
    assert.deepEqual((await restoreSqliteStore(copy, target)).damagedKeys, [key])
    assert.equal(
      (await store.write({ key, expectRevision: entry?.modRevision ?? 0 })).isApplied,
      true,
    )
    assert.equal((await store.get(key)).entry, undefined)
    await store.compact(await store.revision())
    assert.equal((await store.list({ prefix: '/' })).entries.length, keys.length - 1)
  })
}

test('bytes flipped at random are refused in one line or named, and never served', async () => {
  await using it = await filledStore()
  const whole = await readFile(it.path)
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = seededRandom(seed)
    await writeFile(it.path, whole)
    const count = seed <= 30 ? 1 + (seed % 5) : 200
    for (let flips = 0; flips < count; flips += 1) {
      const at = Math.floor(random.next() * whole.length)
      await flip(it.path, at, 1 + Math.floor(random.next() * 255))
    }
    it.lines.length = 0
    await serveOrRefuse(it, seed)
    for (const end of ['-wal', '-shm']) await rm(`${it.path}${end}`, { force: true })
  }
})

async function serveOrRefuse(it: Scene, seed: number): Promise<void> {
  try {
    await using store = await it.open()
    const { entries } = await store.list({ prefix: '/k/' })
    assert.deepEqual(
      entries.map(({ key }) => key),
      keys,
      `seed ${seed}`,
    )
    for (const { key, value, isDamaged } of entries) {
      if (isDamaged)
        assert.ok(
          it.lines.some((line) => line.includes(key)),
          `seed ${seed}`,
        )
      else assert.equal(Buffer.from(value).toString(), textOf(key), `seed ${seed}`)
    }
  } catch (error) {
    if (sqliteFault(error) === 'corrupt') return
    if (!(error instanceof ExpectedError)) throw error
    assert.equal(error.exitCode, exitCodes.dataDirectory, `seed ${seed}`)
    assert.ok(error.message.includes(it.path), `seed ${seed}: ${error.message}`)
  }
}

test('a damaged index is rebuilt from rows that are intact', async () => {
  await using it = await filledStore()
  const whole = await readFile(it.path)
  // The index stores its keys again, without values.
  let at = whole.lastIndexOf('/k/42')
  while (whole.subarray(at - 40, at + 60).includes('value')) at = whole.lastIndexOf('/k/42', at - 1)
  await flip(it.path, at + 3)
  await using store = await it.open()
  assert.deepEqual(
    (await store.list({ prefix: '/' })).entries.map(({ key }) => key),
    keys,
  )
  assert.match(it.lines.join(''), /Store index was damaged and has been rebuilt/)
})

test('a store of the schema before checksums is migrated, its values accepted, new ones checked', async () => {
  await using it = await filledStore()
  {
    using database = openDatabase(it.path)
    database.exec(
      "ALTER TABLE log DROP COLUMN checksum; DELETE FROM meta WHERE name = 'unchecked'; PRAGMA user_version = 1",
    )
  }
  const copy = `${it.path}.old`
  await writeFile(copy, await readFile(it.path))
  {
    await using store = await it.open()
    assert.equal(
      (await store.list({ prefix: '/' })).entries.filter((one) => one.isDamaged).length,
      0,
    )
    await store.write({ key: '/new', value: Buffer.from('a value with a checksum') })
  }
  await flipAfter(it.path, 'a value with a checksum', 5)
  await using store = await it.open()
  assert.equal((await store.get('/new')).entry?.isDamaged, true)
  await restoreSqliteStore(copy, `${it.path}.restored`)
  await using restored = await openSqliteStore(
    `${it.path}.restored`,
    {},
    { clock, log: silentLogger },
  )
  assert.equal((await restored.list({ prefix: '/' })).entries.length, keys.length)
})

test('changed marks are refused, because they decide what is compacted', async () => {
  await using it = await filledStore()
  {
    using database = openDatabase(it.path)
    database.exec("UPDATE meta SET value = 100 WHERE name = 'compacted'")
  }
  await assert.rejects(it.open(), /its marks are not as they were written\); restore a backup/)
})

test('damaged values are named at the start, with the last backup', async () => {
  await using it = await filledStore()
  {
    await using store = await it.open()
    await store.backup(`${it.path}.backup`)
  }
  await flipAfter(it.path, 'value of /k/05', 50)
  await using _store = await it.open()
  assert.equal(it.lines.length, 1, it.lines.join(''))
  assert.match(it.lines[0] ?? '', /\/k\/05.*skerry restore \S*store\.db\.backup.*revision 121/)
})
