import { baseBounds } from './limits-table.ts'

/**
 * The source of time, injected in tests: every wait and every timestamp uses it, so that a test can
 * move a day in a millisecond and a simulation can replay a crash.
 */
export interface Clock {
  /**
   * Returns the wall clock time, in milliseconds since the Unix epoch. It may jump, so use it only
   * for timestamps that people see.
   */
  now(): number
  /** Returns monotonic milliseconds, for durations and deadlines. */
  monotonicMs(): number
  /** Resolves after `ms` (0 or more). Rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Calls `onTimer` once after `ms`. Disposing the timer before that cancels it. */
  setTimer(ms: number, onTimer: () => void, options?: TimerOptions): Timer
}

export interface TimerOptions {
  /** If true, the process may end before the timer fires. Default: the process waits. */
  readonly isBackground?: boolean
}

export interface Timer extends Disposable {
  [Symbol.dispose](): void
}

const { timerMsMax } = baseBounds.clock

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(
        () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
        Math.min(ms, timerMsMax),
      )
      signal.addEventListener('abort', onAbort, { once: true })
    })
  },
  setTimer(ms: number, onTimer: () => void, { isBackground }: TimerOptions = {}): Timer {
    const timer = setTimeout(onTimer, Math.min(ms, timerMsMax))
    if (isBackground) timer.unref()
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
})
