import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { returnMemory } from './return-memory.ts'

const megabyte = 1024 * 1024

function scene(usedBytes: number, busyShare: number) {
  const clock = simulatedClock()
  const state = { usedBytes, busyShare, collected: 0, isLittle: false }
  const stop = new AbortController()
  const engine = {
    usedBytes: () => state.usedBytes,
    heapBytes: () => state.usedBytes,
    growLittle: (isOn: boolean) => void (state.isLittle = isOn),
    busyShare: () => state.busyShare,
    async collect() {
      state.collected += 1
      state.usedBytes = 40 * megabyte
    },
  }
  return { clock, state, stop, done: returnMemory({ clock, engine }, stop.signal) }
}

test('a process that always has a little to do gives its garbage back once no burst came for a while', async () => {
  const { clock, state, stop, done } = scene(100 * megabyte, 0.15)
  await clock.advance(25_000)
  state.busyShare = 0.5
  await clock.advance(5_000)
  state.busyShare = 0.15
  await clock.advance(25_000)
  assert.equal(state.collected, 0, 'the burst is not long ago')
  await clock.advance(5_000)
  assert.equal(state.collected, 1)
  state.usedBytes = 60 * megabyte
  await clock.advance(25_000)
  assert.equal(state.collected, 1, 'not each time')
  state.usedBytes = 300 * megabyte
  await clock.advance(60_000)
  assert.equal(state.collected, 1, 'somebody would wait too long for it')
  stop.abort()
  await done
})

test('a process that is calm after a burst gives its garbage back, a busy one is left alone', async () => {
  const { clock, state, stop, done } = scene(100 * megabyte, 0.9)
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

test('in a large burst the heap grows in small steps, until the process is calm again', async () => {
  const { clock, state, stop, done } = scene(100 * megabyte, 0)
  await clock.advance(5_000)
  assert.equal(state.collected, 1, 'calm: it keeps 40 MB')
  Object.assign(state, { usedBytes: 100 * megabyte, busyShare: 1 })
  await clock.advance(5_000)
  assert.equal(state.isLittle, false, 'a small burst')
  state.usedBytes = 105 * megabyte
  await clock.advance(5_000)
  assert.equal(state.isLittle, true)
  state.busyShare = 0
  await clock.advance(5_000)
  assert.equal(state.collected, 2)
  assert.equal(state.isLittle, false)
  stop.abort()
  await done
})
