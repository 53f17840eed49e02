import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { seededRandom, type SimulatedClock } from '@skerry/base'
import { countingClock } from '../testing/counting-clock.ts'
import { LeaseTable } from './lease-table.ts'

interface Scene extends Disposable {
  readonly clock: SimulatedClock
  readonly table: LeaseTable
  /** Leases whose removal was asked for, in this order. */
  readonly expired: bigint[]
  /** The number of timers that were set. */
  readonly timers: () => number
  /** Removes all that was asked for. */
  forgetExpired(): void
}

/** A table of leases in memory; each has its time to live in seconds. */
function openScene(ttls: readonly number[]): Scene {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE lease (lease TEXT PRIMARY KEY, ttl_seconds INTEGER NOT NULL)')
  const insert = database.prepare('INSERT INTO lease VALUES (?, ?)')
  for (const [at, ttl] of ttls.entries()) insert.run(String(at + 1), ttl)
  const { clock, counting, timers } = countingClock()
  const expired: bigint[] = []
  const onExpired = (lease: bigint): void => void expired.push(lease)
  const random = seededRandom(1)
  const table = new LeaseTable({ database, clock: counting, random, onExpired })
  return {
    clock,
    table,
    expired,
    timers,
    forgetExpired: () => expired.forEach((lease) => table.forget(lease)),
    [Symbol.dispose]() {
      table[Symbol.dispose]()
      database.close()
    },
  }
}

test('leases that end together are removed in turns, so that others can write meanwhile', async () => {
  using scene = openScene(Array.from({ length: 2_500 }, () => 60))
  await scene.clock.advance(60_002)
  assert.equal(scene.expired.length, 1_000)
  scene.forgetExpired()
  await scene.clock.advance(300)
  assert.equal(new Set(scene.expired).size, 2_500)
})

test('a lease whose removal failed is removed again a second later, and not before', async () => {
  using scene = openScene([60, 60, 61])
  await scene.clock.advance(60_500)
  assert.deepEqual(scene.expired, [1n, 2n])
  await scene.clock.advance(700)
  assert.deepEqual(
    scene.expired.toSorted((a, b) => Number(a - b)),
    [1n, 1n, 2n, 2n, 3n],
  )
})

test('many leases that end one after another are looked at some times a second', async () => {
  using scene = openScene(Array.from({ length: 50_000 }, (_, at) => 60 + (at % 10)))
  for (let id = 60_000n; id < 61_000n; id += 1n) {
    scene.table.start(id, 60)
    await scene.clock.advance(1)
  }
  const before = scene.timers()
  await scene.clock.advance(58_000)
  scene.forgetExpired()
  await scene.clock.advance(1_000)
  assert.ok(scene.timers() - before < 100, String(scene.timers() - before))
})
