/**
 * The one way to wait for a state of the world: all polling in tests happens here, so that no test has its own period,
 * bound or sleep.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'

/** The bound is only a guard: a test that reaches it has failed. */
const guardMs = 60_000
/** Servers in this process answer within a few turns of the event loop, so the first questions come without a pause. */
const eagerMs = 50
const pauseMsMin = 5
/** A question that takes longer has started a program, kubectl for example. */
const dearMs = 40
const dearPauseMsMax = 600

type Truthy<T> = Exclude<T, false | undefined | null | 0 | ''>

/**
 * Asks until the answer is truthy, and resolves with it. At first it asks in each turn of the event loop; later each
 * pause is as long as the question took, three times as long after a dear one, which leaves other processes time to work.
 * Rejects when `ask` does, or with the source text of `ask` once the signal aborts (default: after 60 s).
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  signal: AbortSignal = AbortSignal.timeout(guardMs),
): Promise<Truthy<T>> {
  const beganMs = performance.now()
  for (;;) {
    const askedMs = performance.now()
    const answer = await ask()
    // The condition has excluded every falsy value.
    if (answer) return answer as Truthy<T>
    if (signal.aborted) throw new Error(`Not so in time: ${String(ask)}`, { cause: signal.reason })
    const nowMs = performance.now()
    if (nowMs - beganMs < eagerMs) await nextTurn()
    else await pause(pauseAfter(nowMs - askedMs))
  }
}

function pauseAfter(tookMs: number): number {
  if (tookMs > dearMs) return Math.min(3 * tookMs, dearPauseMsMax)
  return Math.max(tookMs, pauseMsMin)
}
