import { bulkWindowMs, trafficClasses, type TrafficClass } from './traffic-rules.ts'

const bulkIndex = trafficClasses.indexOf('bulk')

/**
 * Decides the class of one direction of a stream: the request's own, or bulk while it moves as much as bulk
 * does. A session that lasts for days moves much, but never much at once.
 */
export class StreamTraffic {
  #own = 0
  #isBulk = false
  /** Bytes that are not yet forgotten; `bulkAfterBytes` are in one window. */
  #level = 0
  #atMs = 0

  set own(name: TrafficClass) {
    this.#own = trafficClasses.indexOf(name)
  }

  /** The index in `trafficClasses`. */
  get index(): number {
    return this.#isBulk ? bulkIndex : this.#own
  }

  moved(bytes: number, nowMs: number, bulkAfterBytes: number): void {
    const forgotten = ((nowMs - this.#atMs) * bulkAfterBytes) / bulkWindowMs
    this.#level = Math.max(0, this.#level - forgotten) + bytes
    this.#atMs = nowMs
    // It returns only well below the limit, or it would oscillate.
    if (this.#isBulk) this.#isBulk = this.#level * 2 > bulkAfterBytes
    else this.#isBulk = this.#level > bulkAfterBytes
  }
}
