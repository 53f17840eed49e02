import type { Clock } from '@skerry/base'

/** Allows so many at once, and so many more for each second. */
export class RateBucket {
  readonly #burst: number
  readonly #perSecond: number
  readonly #clock: Clock
  #left: number
  #filledAtMs: number | undefined

  constructor(burst: number, perSecond: number, clock: Clock) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#clock = clock
    this.#left = burst
  }

  /** Returns false if there were too many. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs()
    const gained = ((nowMs - (this.#filledAtMs ?? nowMs)) * this.#perSecond) / 1_000
    this.#left = Math.min(this.#burst, this.#left + gained)
    this.#filledAtMs = nowMs
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
