import { restartBackoffDefaults } from '../limits-table.ts'

/** The delay before an ended container may start again. Kept per container name and hash. */
export interface RestartBackoff {
  readonly delayMs: number
  readonly updatedAtMs: number
}

/** A container that ran this long after its last start begins from the shortest delay again. */
function hasExpired(backoff: RestartBackoff, eventMs: number, maxMs: number): boolean {
  return eventMs - backoff.updatedAtMs > 2 * maxMs
}

/** Returns the time at which the container may start; a time in the past, or undefined, means now. */
export function backoffUntilMs(
  backoff: RestartBackoff | undefined,
  finishedAtMs: number,
  maxMs: number = restartBackoffDefaults.maxMs,
): number | undefined {
  if (!backoff || hasExpired(backoff, finishedAtMs, maxMs)) return undefined
  return finishedAtMs + backoff.delayMs
}

/** The state after a start that followed an end: the next one waits twice as long. */
export function nextBackoff(
  backoff: RestartBackoff | undefined,
  times: { finishedAtMs: number; nowMs: number },
  limits: { initialMs: number; maxMs: number } = restartBackoffDefaults,
): RestartBackoff {
  const isFresh = !backoff || hasExpired(backoff, times.finishedAtMs, limits.maxMs)
  return {
    delayMs: isFresh ? limits.initialMs : Math.min(2 * backoff.delayMs, limits.maxMs),
    updatedAtMs: times.nowMs,
  }
}

/** Formats durations as Go prints them, which users of `describe` know: 10s, 1m20s, 5m0s. */
export function formatGoDuration(ms: number): string {
  if (ms === 0) return '0s'
  if (ms < 1000) return `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor(ms / 60_000) % 60
  const seconds = (ms % 60_000) / 1000
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}
