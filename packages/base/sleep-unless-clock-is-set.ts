import type { Clock } from './clock.ts'

/** The interval at which a change of the clock is detected. */
const lookMs = 5_000
/** NTP slews by less than this in that time, and a smaller change does not matter. */
const setMsMin = 1_000

/**
 * Resolves after `ms`, or within some seconds if the wall clock is set or the machine wakes from
 * sleep, so that callers that wait for a date check it again. Rejects with the signal's reason.
 */
export async function sleepUnlessClockIsSet(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + ms
  const offsetMs = clock.now() - clock.monotonicMs()
  for (let leftMs = ms; leftMs > 0; leftMs = untilMs - clock.monotonicMs()) {
    await clock.sleep(Math.min(lookMs, leftMs), signal)
    if (Math.abs(clock.now() - clock.monotonicMs() - offsetMs) >= setMsMin) return
  }
}
