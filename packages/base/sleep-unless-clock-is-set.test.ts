import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock, sleepUnlessClockIsSet } from './mod.ts'

const minuteMs = 60_000

/** Returns how long it sleeps if the clock is set by this much after ten seconds. */
async function sleptMs(jumpMs: number): Promise<number> {
  const clock = simulatedClock()
  let endMs = Infinity
  const sleeping = sleepUnlessClockIsSet(clock, minuteMs, new AbortController().signal)
  const ending = sleeping.then(() => (endMs = clock.monotonicMs()))
  await clock.advance(10_500)
  clock.jump(jumpMs)
  await clock.advance(2 * minuteMs)
  await ending
  return endMs
}

test("a wait for a date ends within seconds of the clock's being set, and otherwise in time", async () => {
  const dayMs = 86_400_000
  for (const jumpMs of [dayMs, -dayMs, 5_000, -5_000]) {
    assert.equal(await sleptMs(jumpMs), 15_000, `${jumpMs}`)
  }
  for (const jumpMs of [0, 100, -100]) assert.equal(await sleptMs(jumpMs), minuteMs, `${jumpMs}`)
})

test('an abort ends it with its reason', async () => {
  const clock = simulatedClock()
  const stopping = new AbortController()
  const sleeping = sleepUnlessClockIsSet(clock, minuteMs, stopping.signal)
  stopping.abort(new Error('stopped'))
  await assert.rejects(sleeping, /stopped/)
})
