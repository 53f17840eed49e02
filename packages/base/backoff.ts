import type { Random } from './random.ts'

export interface BackoffOptions {
  initialMs: number
  /** Never waits longer than this, before jitter. */
  maxMs: number
  /** Growth per failure, above 1. */
  factor: number
  /** Adds up to this share of the delay, 0..1, so that many clients do not return together. */
  jitter: number
}

/** Rate-limits retries; never counts them out, because offline is a normal state. */
export interface Backoff {
  /** The delay before the next try, in milliseconds; grows with each call. */
  nextMs(): number
  /** After a success: start from `initialMs` again. */
  reset(): void
}

const backoffDefaults: Readonly<BackoffOptions> = Object.freeze({
  initialMs: 500,
  maxMs: 30_000,
  factor: 2,
  jitter: 0.5,
})

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
