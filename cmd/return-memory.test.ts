import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { returnMemory } from './return-memory.ts'

const megabyte = 1024 * 1024

test('a process that is calm after a burst gives its garbage back, a busy one is left alone', async () => {
  const clock = simulatedClock()
  const state = { usedBytes: 100 * megabyte, busyShare: 0.9, collected: 0 }
  const stop = new AbortController()
  const engine = {
    usedBytes: () => state.usedBytes,
    busyShare: () => state.busyShare,
    async collect() {
      state.collected += 1
      state.usedBytes = 40 * megabyte
    },
  }
  const done = returnMemory({ clock, engine }, stop.signal)
  await clock.advance(20_000)
  assert.equal(state.collected, 0, 'busy')
  state.busyShare = 0.05
  await clock.advance(5_000)
  assert.equal(state.collected, 1, 'calm, and full of garbage')
  state.usedBytes = 50 * megabyte
  await clock.advance(60_000)
  assert.equal(state.collected, 1, 'a little garbage is not worth it')
  state.usedBytes = 60 * megabyte
  await clock.advance(5_000)
  assert.equal(state.collected, 2, 'the next burst')
  stop.abort()
  await done
})
