/** The clock and the timers of the browser. Everything else in the console takes time from here. */

import { timeLimits } from '../../limits-table.ts'

export interface Timer {
  cancel(): void
}

export interface BrowserClock {
  nowMs(): number
  after(ms: number, call: () => void): Timer
  /** Calls once before the next frame is drawn; in a hidden tab, which draws none, after a second. */
  onFrame(call: () => void): Timer
  /** Returns a signal that aborts after this time. */
  limit(ms: number): AbortSignal
}

export const browserClock: BrowserClock = Object.freeze({
  nowMs: () => Date.now(),
  after: (ms: number, call: () => void) => {
    const id = setTimeout(call, ms)
    return { cancel: () => clearTimeout(id) }
  },
  onFrame: (call: () => void) => {
    if (document.hidden) return browserClock.after(timeLimits.hiddenFrameMs, call)
    const id = requestAnimationFrame(call)
    return { cancel: () => cancelAnimationFrame(id) }
  },
  limit: (ms: number) => AbortSignal.timeout(ms),
})
