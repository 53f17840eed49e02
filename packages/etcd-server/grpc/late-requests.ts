import type { Clock } from '@skerry/base'

/** Requests that have not arrived in full, each of which may take the same time. */
export class LateRequests<T> {
  readonly #clock: Clock
  readonly #arriveMs: number
  readonly #onLate: (request: T) => void
  /** The time at which each began; the oldest is first. */
  readonly #begunMs = new Map<T, number>()
  #isWatched = false

  constructor(clock: Clock, arriveMs: number, onLate: (request: T) => void) {
    this.#clock = clock
    this.#arriveMs = arriveMs
    this.#onLate = onLate
  }

  add(request: T): void {
    this.#begunMs.set(request, this.#clock.monotonicMs())
    this.#watch()
  }

  delete(request: T): void {
    this.#begunMs.delete(request)
  }

  /** One timer serves all, since most requests arrive at once. */
  #watch(): void {
    if (this.#isWatched) return
    for (const begunMs of this.#begunMs.values()) {
      this.#isWatched = true
      const leftMs = Math.max(0, begunMs + this.#arriveMs - this.#clock.monotonicMs())
      this.#clock.setTimer(leftMs, () => this.#look(), { isBackground: true })
      return
    }
  }

  #look(): void {
    this.#isWatched = false
    const lateMs = this.#clock.monotonicMs() - this.#arriveMs
    for (const [request, begunMs] of this.#begunMs) {
      if (begunMs > lateMs) break
      this.#begunMs.delete(request)
      this.#onLate(request)
    }
    this.#watch()
  }
}
