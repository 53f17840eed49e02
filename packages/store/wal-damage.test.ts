import assert from 'node:assert/strict'
import { cp, mkdtemp, open, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, exitCodes, seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import { openSqliteStore } from './sqlite-store.ts'
import { walDamage } from './wal-damage.ts'

const clock = simulatedClock()
const deps = { clock, log: silentLogger }
const keys = Array.from({ length: 30 }, (_, index) => `/k/${index}`)
const textOf = (key: string): string => `value of ${key} ${'.'.repeat(400)}`

interface Scene extends AsyncDisposable {
  /** A store that was killed with all of its changes in the log; each call makes a fresh copy. */
  killed(): Promise<string>
}

async function scene(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'wal-damage-'))
  const path = join(directory, 'live', 'store.db')
  const store = await openSqliteStore(path, {}, deps)
  await store.backup(join(directory, 'usb.db'))
  for (const key of keys) await store.write({ key, value: Buffer.from(textOf(key)) })
  return {
    async killed() {
      const copy = await mkdtemp(join(directory, 'killed-'))
      await cp(dirname(path), copy, { recursive: true })
      return join(copy, 'store.db')
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    },
  }
}

async function flip(path: string, at: number): Promise<void> {
  await using file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 0x10]), 0, 1, at)
}

const frameBytes = 4_096 + 24

test('a log is whole as it was written, and with a torn end', async () => {
  await using it = await scene()
  const path = `${await it.killed()}-wal`
  assert.equal(walDamage(path), undefined)
  const { size } = await stat(path)
  for (const less of [1, 600, frameBytes - 1, frameBytes, frameBytes + 100]) {
    await truncate(path, size - less)
    assert.equal(walDamage(path), undefined, `${less} bytes less`)
  }
  assert.equal(walDamage(`${path}.missing`), undefined)
})

test('a torn last change is dropped, and all before it are served', async () => {
  await using it = await scene()
  const path = await it.killed()
  await flip(`${path}-wal`, (await stat(`${path}-wal`)).size - 100)
  await using store = await openSqliteStore(path, {}, deps)
  const { entries } = await store.list({ prefix: '/k/' })
  assert.equal(entries.length, keys.length - 1)
})

test('a flipped bit anywhere in the log before its last changes is named, with the last backup', async () => {
  await using it = await scene()
  const whole = await it.killed()
  const { size } = await stat(`${whole}-wal`)
  const random = seededRandom(7)
  for (let seed = 1; seed <= 25; seed += 1) {
    const path = await it.killed()
    const at = Math.floor(random.next() * (size - 12 * frameBytes))
    // The counter of checkpoints is part of the checksum, and nothing else reads it.
    await flip(`${path}-wal`, at)
    await assert.rejects(openSqliteStore(path, {}, deps), (error) => {
      assert.ok(error instanceof ExpectedError, `byte ${at}: ${String(error)}`)
      assert.equal(error.exitCode, exitCodes.dataDirectory)
      assert.ok(error.message.includes(path), error.message)
      assert.match(error.message, /its log is damaged.*skerry restore \S*usb\.db.*revision 1\)/)
      return true
    })
    // The evidence stays.
    assert.equal((await readFile(`${path}-wal`)).length, size)
  }
})
