import type { Clock } from './clock.ts'
import { baseBounds } from './limits-table.ts'

const { lookMs, setMsMin } = baseBounds.sleepUnlessClockIsSet

/**
 * Resolves after `ms`, or within some seconds if the wall clock is set or the machine wakes from
 * sleep, so that callers that wait for a date check it again. Resolves to true if it was set. Rejects with the signal's
 * reason.
 */
export async function sleepUnlessClockIsSet(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + ms
  const offsetMs = clock.now() - clock.monotonicMs()
  for (let leftMs = ms; leftMs > 0; leftMs = untilMs - clock.monotonicMs()) {
    await clock.sleep(Math.min(lookMs, leftMs), signal)
    if (Math.abs(clock.now() - clock.monotonicMs() - offsetMs) >= setMsMin) return true
  }
  return false
}
