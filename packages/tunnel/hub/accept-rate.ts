import type { Clock } from '@skerry/base'
import { tunnelBounds } from '../limits-table.ts'

const { awayMsMax } = tunnelBounds.acceptRate

/**
 * Limits how many agents may connect per second. Each further one gets its own second in which to return, so
 * that ten thousand that arrive at once do not all return at once.
 */
export class AcceptRate {
  readonly #perSecond: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #tokens: number
  #filledMs: number
  /** The time from which no place is given away. */
  #freeMs = 0

  constructor(perSecond: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#perSecond = perSecond
    this.#clock = clock
    this.#tokens = perSecond
    this.#filledMs = clock.monotonicMs()
  }

  /** A bucket of one second's tokens, refilled as time passes. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs()
    const refill = ((nowMs - this.#filledMs) * this.#perSecond) / 1_000
    this.#tokens = Math.min(this.#perSecond, this.#tokens + refill)
    this.#filledMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  /** Reserves a place for a refused agent; returns the time until then, 1 second or more. */
  retryAfterS(): number {
    const nowMs = this.#clock.monotonicMs()
    const nextMs = Math.max(this.#freeMs, nowMs) + 1_000 / this.#perSecond
    this.#freeMs = Math.min(nextMs, nowMs + awayMsMax)
    return Math.ceil((this.#freeMs - nowMs) / 1_000)
  }
}
