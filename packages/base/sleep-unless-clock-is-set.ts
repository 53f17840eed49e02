import type { Clock } from './clock.ts'

/** How soon it is noticed that the clock was set. */
const lookMs = 5_000
/** NTP slews by less than this in that time, and nobody minds a clock that is set by less. */
const setMsMin = 1_000

/**
 * Resolves after `ms`, or within some seconds when the wall clock is set, or the machine wakes from its sleep: whoever
 * waits to judge dates by the clock judges them again. Rejects with the signal's reason.
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
