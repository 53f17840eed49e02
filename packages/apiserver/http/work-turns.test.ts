import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock, type SimulatedClock } from '@skerry/base'
import { WorkTurns } from './work-turns.ts'

/** Runs the event loop's passes by hand; work takes as long as a test sets. */
function scene() {
  const clock = simulatedClock()
  let nowMs = 0
  const passes: (() => void)[] = []
  const timers: { readonly atMs: number; readonly onTimer: () => void }[] = []
  const turns = new WorkTurns({
    clock: {
      monotonicMs: () => nowMs,
      setTimer: (ms, onTimer) => {
        timers.push({ atMs: nowMs + ms, onTimer })
        return { [Symbol.dispose]: () => undefined }
      },
    },
    nextPass: (call) => void passes.push(call),
  })
  const done: string[] = []
  const request = async (name: string, stepsMs: readonly number[]): Promise<void> => {
    for (const [at, ms] of stepsMs.entries()) {
      await turns.pause()
      nowMs += ms
      done.push(`${name}${at} at ${nowMs}`)
    }
  }
  /** Runs everything that is due. Time passes only in work and in timers. */
  const run = async (): Promise<void> => {
    for (;;) {
      await settled(clock)
      const pass = passes.shift()
      if (pass) pass()
      else {
        const timer = timers.shift()
        if (!timer) return
        nowMs = Math.max(nowMs, timer.atMs)
        timer.onTimer()
      }
    }
  }
  return { request, run, done }
}

/** Handlers of resolved promises have run by then. */
async function settled(clock: SimulatedClock): Promise<void> {
  await clock.advance(0)
}

test('large requests take turns step by step, and a rest of the same length follows each step', async () => {
  const { request, run, done } = scene()
  const both = Promise.all([request('a', [40, 40]), request('b', [60])])
  await run()
  await both
  assert.deepEqual(done, ['a0 at 40', 'b0 at 140', 'a1 at 240'])
})

test('a step that takes very long is followed by a quarter of a second', async () => {
  const { request, run, done } = scene()
  const both = Promise.all([request('a', [5_000]), request('b', [1])])
  await run()
  await both
  assert.deepEqual(done, ['a0 at 5000', 'b0 at 5251'])
})
