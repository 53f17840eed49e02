import type { Clock, Timer } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'

const { requestsPerMs } = etcdServerBounds.deadlines

/** The times at which requests must be over. One timer serves all, since most are over long before. */
export class Deadlines<T> {
  readonly #clock: Clock
  readonly #onLate: (request: T) => void
  readonly #endsMs = new Map<T, number>()
  #timer: Timer | undefined
  #timerMs = Infinity

  constructor(clock: Clock, onLate: (request: T) => void) {
    this.#clock = clock
    this.#onLate = onLate
  }

  /** Gives the request so much time from now on. */
  add(request: T, ms: number): void {
    const endMs = this.#clock.monotonicMs() + ms
    this.#endsMs.set(request, endMs)
    if (endMs < this.#timerMs) this.#arm(endMs)
  }

  delete(request: T): void {
    this.#endsMs.delete(request)
  }

  #arm(atMs: number): void {
    this.#timer?.[Symbol.dispose]()
    this.#timerMs = atMs
    const waitMs = Math.max(0, atMs - this.#clock.monotonicMs())
    this.#timer = this.#clock.setTimer(waitMs, this.#look, { isBackground: true })
  }

  readonly #look = (): void => {
    this.#timer = undefined
    this.#timerMs = Infinity
    const nowMs = this.#clock.monotonicMs()
    let nextMs = Infinity
    for (const [request, endMs] of this.#endsMs) {
      if (endMs > nowMs) {
        nextMs = Math.min(nextMs, endMs)
        continue
      }
      this.#endsMs.delete(request)
      this.#onLate(request)
    }
    // Each look goes over all of them.
    nextMs = Math.max(nextMs, nowMs + this.#endsMs.size / requestsPerMs)
    if (nextMs < this.#timerMs) this.#arm(nextMs)
  }
}
