import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { openSqliteStore } from './sqlite-store.ts'
import { takeStoreLock } from './store-lock.ts'
import { storeLockDefaults } from './limits-table.ts'

const nowhere = new AbortController().signal

async function openStore() {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-lock-'))
  const clock = simulatedClock()
  const store = await openSqliteStore(
    join(directory, 'a.db'),
    {},
    { clock, log: silentLogger },
    nowhere,
  )
  return {
    clock,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    },
  }
}

type Opened = Awaited<ReturnType<typeof openStore>>

/** Advances in small steps, so that the store's work between two of them is done. */
async function pass(ms: number, { clock, store }: Opened): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
    await clock.advance(1_000)
    await store.write({ key: '/step', value: new Uint8Array(1) })
  }
}

const ttlMs = 1_000 * storeLockDefaults.ttlSeconds

test('a living holder keeps the lock, and the next one gets it at once afterwards', async () => {
  await using opened = await openStore()
  const { store, clock } = opened
  let isSecond = false
  const first = await takeStoreLock(store, '/locks/a', { clock }, nowhere)
  const second = takeStoreLock(store, '/locks/a', { clock }, nowhere).then((lock) => {
    isSecond = true
    return lock
  })
  await pass(3 * ttlMs, opened)
  assert.equal(isSecond, false)
  await first[Symbol.asyncDispose]()
  await using _held = await second
})

test('the lock of a process that died goes with its lease', async () => {
  await using opened = await openStore()
  const { store, clock } = opened
  const { leaseId } = await store.grantLease(storeLockDefaults.ttlSeconds)
  await store.write({ key: '/locks/a', value: new Uint8Array(0), leaseId })
  const taking = takeStoreLock(store, '/locks/a', { clock }, nowhere)
  await pass(ttlMs + 1_000, opened)
  await using _held = await taking
  assert.ok((await store.get('/locks/a')).entry)
})

test('a waiter for the lock stops waiting when its signal says so', async () => {
  await using opened = await openStore()
  const { store, clock } = opened
  await using _held = await takeStoreLock(store, '/locks/a', { clock }, nowhere)
  const stop = new AbortController()
  const waiting = takeStoreLock(store, '/locks/a', { clock }, stop.signal)
  stop.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
})
