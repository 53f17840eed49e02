import type { Random } from './random.ts'
import { baseBounds } from './limits-table.ts'

export interface BackoffOptions {
  initialMs: number
  /** The longest delay, before jitter. */
  maxMs: number
  /** The growth per failure, above 1. */
  factor: number
  /** Adds up to this share of the delay, 0..1, so that many clients do not return together. */
  jitter: number
}

/** Limits the rate of retries, but never their number, because offline is a normal state. */
export interface Backoff {
  /** Returns the delay before the next try, in milliseconds. It grows with each call. */
  nextMs(): number
  /** Call this after a success: starts from `initialMs` again. */
  reset(): void
}

const backoffDefaults = baseBounds.backoff

export function createBackoff(options: Partial<BackoffOptions>, random: Random): Backoff {
  const { initialMs, maxMs, factor, jitter } = { ...backoffDefaults, ...options }
  if (factor <= 1) throw new RangeError(`Cannot create backoff: factor ${factor} is not above 1`)
  let currentMs = initialMs
  return {
    nextMs() {
      const delayMs = currentMs * (1 + jitter * random.next())
      currentMs = Math.min(maxMs, currentMs * factor)
      return delayMs
    },
    reset() {
      currentMs = initialMs
    },
  }
}
