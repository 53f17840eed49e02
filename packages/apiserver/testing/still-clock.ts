import type { Clock } from '@skerry/base'

/** Creates a clock that moves only on command. Sleeps end when time passes them. */
export function stillClock(nowMs: number): Clock & { advance(ms: number): void } {
  const timers = new Set<{ atMs: number; onTimer: () => void }>()
  let current = nowMs
  const setTimer = (ms: number, onTimer: () => void) => {
    const timer = { atMs: current + ms, onTimer }
    timers.add(timer)
    return { [Symbol.dispose]: () => void timers.delete(timer) }
  }
  return {
    now: () => current,
    monotonicMs: () => current - nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        setTimer(ms, resolve)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    setTimer,
    advance(ms) {
      current += ms
      for (const timer of timers) {
        if (timer.atMs > current) continue
        timers.delete(timer)
        timer.onTimer()
      }
    },
  }
}
