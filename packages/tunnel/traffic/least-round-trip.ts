import { tunnelBounds } from '../limits-table.ts'

const { rememberedMs } = tunnelBounds.leastRoundTrip

/** Keeps the least round trip of the last five to ten minutes: the time of the way without queues. */
export class LeastRoundTrip {
  #ms = Infinity
  #msBefore = Infinity
  #sinceMs = 0

  add(ms: number, nowMs: number): void {
    this.#forget(nowMs)
    this.#ms = Math.min(this.#ms, ms)
  }

  /** Returns Infinity if none is known. */
  ms(nowMs: number): number {
    this.#forget(nowMs)
    return Math.min(this.#ms, this.#msBefore)
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#sinceMs < rememberedMs) return
    const isLongAgo = nowMs - this.#sinceMs >= 2 * rememberedMs
    this.#msBefore = isLongAgo ? Infinity : this.#ms
    this.#ms = Infinity
    this.#sinceMs = nowMs
  }
}
