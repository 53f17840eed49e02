import type { Clock, Timer } from './clock.ts'
import { baseBounds } from './limits-table.ts'

const { timersAtOnceMax } = baseBounds.simulatedClock

export interface SimulatedClock extends Clock {
  /**
   * Moves time and fires due timers in order. Lets promises settle between two timers. Rejects if code sets one timer after
   * the other for the present moment, so that time would stand still for ever.
   */
  advance(ms: number): Promise<void>
  /** Changes the wall clock by this much, as a person or NTP does. Timers do not move. */
  jump(ms: number): void
}

interface Pending {
  readonly atMs: number
  readonly onTimer: () => void
}

/** Creates a clock that stands still until `advance`. It starts at `epochMs`; monotonic time starts at 0. */
export function simulatedClock(epochMs = 1_700_000_000_000): SimulatedClock {
  let nowMs = 0
  let jumpedMs = 0
  const pending = new Set<Pending>()
  const setTimer = (ms: number, onTimer: () => void): Timer => {
    const timer = { atMs: nowMs + Math.max(0, ms), onTimer }
    pending.add(timer)
    return { [Symbol.dispose]: () => void pending.delete(timer) }
  }
  return {
    now: () => epochMs + jumpedMs + nowMs,
    monotonicMs: () => nowMs,
    setTimer,
    sleep: (ms, signal) => sleepOn(setTimer, ms, signal),
    jump: (ms) => void (jumpedMs += ms),
    async advance(ms) {
      const untilMs = nowMs + ms
      // Work that has just started sets its timers first.
      await settle()
      let atOnce = 0
      for (;;) {
        const next = earliest(pending)
        if (next === undefined || next.atMs > untilMs) break
        atOnce = next.atMs > nowMs ? 0 : atOnce + 1
        if (atOnce > timersAtOnceMax) {
          throw new Error(`Cannot advance the clock: over ${timersAtOnceMax} timers at ${nowMs} ms`)
        }
        nowMs = Math.max(nowMs, next.atMs)
        pending.delete(next)
        next.onTimer()
        await settle()
      }
      nowMs = untilMs
      await settle()
    },
  }
}

function sleepOn(setTimer: Clock['setTimer'], ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      timer[Symbol.dispose]()
      reject(signal.reason)
    }
    const timer = setTimer(ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

function earliest(pending: ReadonlySet<Pending>): Pending | undefined {
  let first: Pending | undefined
  for (const timer of pending) if (first === undefined || timer.atMs < first.atMs) first = timer
  return first
}

/**
 * Waits for one turn of the event loop, so that work triggered by a timer continues before the next
 * one fires.
 */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
