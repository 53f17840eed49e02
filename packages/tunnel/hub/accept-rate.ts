import type { Clock } from '@skerry/base'

/** Nobody is sent away for longer, however many there are. */
const awayMsMax = 300_000

/**
 * How many agents may come in a second. Who comes above it is told a second of its own to come again in,
 * so that ten thousand that all come at once do not all come again at once.
 */
export class AcceptRate {
  readonly #perSecond: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #tokens: number
  #filledMs: number
  /** From when on no place was given away. */
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

  /** For who was refused: in how many seconds there is place again, 1 or more. */
  retryAfterS(): number {
    const nowMs = this.#clock.monotonicMs()
    const nextMs = Math.max(this.#freeMs, nowMs) + 1_000 / this.#perSecond
    this.#freeMs = Math.min(nextMs, nowMs + awayMsMax)
    return Math.ceil((this.#freeMs - nowMs) / 1_000)
  }
}
