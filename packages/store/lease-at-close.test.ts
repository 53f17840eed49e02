import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock, type Timer } from '@skerry/base'
import { openSqliteStore } from './sqlite-store.ts'

test('a lease that is granted while the store closes leaves no timer behind', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'store-'))
  const alive = new Set<Timer>()
  const clock = simulatedClock()
  const setTimer = (ms: number, onTime: () => void): Timer => {
    const timer = clock.setTimer(ms, onTime)
    const counted = {
      [Symbol.dispose]() {
        timer[Symbol.dispose]()
        alive.delete(counted)
      },
    }
    alive.add(counted)
    return counted
  }
  const deps = { clock: { ...clock, setTimer }, log: silentLogger }
  const store = await openSqliteStore(join(directory, 'state.db'), {}, deps)
  const granted = store.grantLease(3_600)
  await Promise.allSettled([store[Symbol.asyncDispose](), granted])
  assert.equal(alive.size, 0)
  await rm(directory, { recursive: true })
})
