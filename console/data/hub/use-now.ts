import { useEffect, useState } from 'react'
import { browserClock } from '../browser/browser-clock.ts'
import { hubNowMs } from './hub-clock.ts'

/** Returns the hub's time, and draws again after `everyMs`. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(hubNowMs)
  useEffect(() => {
    const timer = browserClock.after(everyMs - (hubNowMs() % 100), () => setNowMs(hubNowMs()))
    return () => timer.cancel()
  }, [nowMs, everyMs])
  return nowMs
}

/** Turns true after `ms`: what is quick shows no sign of waiting. */
export function useLater(ms: number): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = browserClock.after(ms, () => setLate(true))
    return () => timer.cancel()
  }, [ms])
  return isLate
}
