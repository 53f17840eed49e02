import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  copyFile,
  cp,
  link,
  mkdtemp,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { silentLogger, simulatedClock } from '@skerry/base'
import { findRecentPlace } from './recent-place.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'
import { openStoreRows } from './store-rows.ts'

const execute = promisify(execFile)

interface Scene extends AsyncDisposable {
  readonly path: string
  open(path?: string): Promise<SqliteStore>
  /** Copies what a killed process would leave on the disk and in memory, and returns the path of the store. */
  afterKill(options?: { hasMemory: boolean }): Promise<string>
}

async function scene(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'recent-place-'))
  const path = join(directory, 'data', 'store.db')
  const copies: string[] = []
  return {
    path,
    open: (at = path) => openSqliteStore(at, {}, { clock: simulatedClock(), log: silentLogger }),
    async afterKill({ hasMemory } = { hasMemory: true }) {
      const copy = join(await mkdtemp(join(directory, 'killed-')), 'store.db')
      await cp(dirname(path), dirname(copy), { recursive: true })
      const { path: memory } = findRecentPlace(copy)
      copies.push(memory)
      if (hasMemory) await copyFile(findRecentPlace(path).path, memory)
      else await rm(memory)
      return copy
    },
    async [Symbol.asyncDispose]() {
      for (const copy of copies) await rm(copy, { force: true })
      await rm(directory, { recursive: true })
    },
  }
}

const renew = (store: SqliteStore, text: string) =>
  store.write({ key: '/lease', value: Buffer.from(text), isRelaxed: true })

const textOf = async (store: SqliteStore): Promise<string> =>
  Buffer.from((await store.get('/lease')).entry?.value ?? []).toString()

test('writes that may wait are in memory, where they cost the disk nothing', async () => {
  await using it = await scene()
  await using store = await it.open()
  await renew(store, 'first')
  const { bytesWritten } = store.counters
  for (let count = 0; count < 20; count += 1) await renew(store, `${count}`)
  assert.equal(store.counters.bytesWritten, bytesWritten)
  assert.ok(!(await readdir(dirname(it.path))).includes('store.db-recent'))
})

test('a killed process loses no write that was in memory', async () => {
  await using it = await scene()
  await using store = await it.open()
  await renew(store, 'first')
  const { revision } = await renew(store, 'second')
  await using next = await it.open(await it.afterKill())
  assert.equal(await textOf(next), 'second')
  assert.equal(await next.revision(), revision)
  using rows = await openStoreRows(await it.afterKill(), silentLogger)
  assert.equal(rows.revision, revision)
})

test('a process whose memory is gone does not give a revision again', async () => {
  await using it = await scene()
  await using store = await it.open()
  await renew(store, 'first')
  const { revision } = await renew(store, 'lost')
  await using next = await it.open(await it.afterKill({ hasMemory: false }))
  assert.equal(await textOf(next), 'first')
  assert.ok((await next.revision()) > revision)
})

test('a clean close leaves nothing in memory, and neither does a reader of the closed store', async () => {
  await using it = await scene()
  let memory = ''
  const isThere = async (): Promise<boolean> =>
    (await readdir(dirname(memory))).includes(basename(memory))
  {
    await using store = await it.open()
    await renew(store, 'first')
    await renew(store, 'second')
    memory = findRecentPlace(it.path).path
    assert.equal((await stat(memory)).mode & 0o777, 0o600)
  }
  assert.ok(!(await isThere()))
  ;(await openStoreRows(it.path, silentLogger))[Symbol.dispose]()
  assert.ok(!(await isThere()))
  await using store = await it.open()
  assert.equal(await textOf(store), 'second')
})

for (const [what, lead] of [
  ['that somebody else may write', link],
  ['that is a link', symlink],
  ['that is a pipe', (_: string, path: string) => execute('mkfifo', [path])],
] as const) {
  test(`a file in memory ${what} is not used`, async () => {
    await using it = await scene()
    await (await it.open())[Symbol.asyncDispose]()
    const { path: memory } = findRecentPlace(it.path)
    const other = `${memory}-other`
    await rm(memory)
    await writeFile(other, 'x'.repeat(32))
    await lead(other, memory)
    try {
      assert.equal(findRecentPlace(it.path).path, `${it.path}-recent`)
      await using store = await it.open()
      await renew(store, 'first')
      await renew(store, 'second')
      assert.equal((await stat(other)).size, 32)
    } finally {
      await rm(memory)
      await rm(other)
    }
  })
}
