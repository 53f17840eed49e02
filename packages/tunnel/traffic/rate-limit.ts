import type { TrafficRate } from './traffic-rules.ts'
import { tunnelBounds } from '../limits-table.ts'

const { messageMsMax, messageBytesMin } = tunnelBounds.rateLimit

/**
 * A token bucket. A message may go while there is anything in it, and may take more than there is:
 * then the next one waits until that is paid.
 */
export class RateLimit {
  /** The limit of one message. */
  readonly messageBytesMax: number
  readonly #bytesPerMs: number
  readonly #burstBytes: number
  #bytes: number
  #atMs: number

  constructor({ bytesPerSecond, burstBytes }: TrafficRate, nowMs: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000
    this.messageBytesMax = Math.max(messageBytesMin, Math.floor(this.#bytesPerMs * messageMsMax))
    // The burst makes up for what a late timer could not send.
    this.#burstBytes = Math.max(burstBytes, this.messageBytesMax)
    this.#bytes = this.#burstBytes
    this.#atMs = nowMs
  }

  /** Milliseconds until something may go; 0: now. */
  waitMs(nowMs: number): number {
    const filled = this.#bytes + (nowMs - this.#atMs) * this.#bytesPerMs
    this.#bytes = Math.min(this.#burstBytes, filled)
    this.#atMs = nowMs
    return this.#bytes > 0 ? 0 : Math.ceil(-this.#bytes / this.#bytesPerMs) || 1
  }

  take(bytes: number): void {
    this.#bytes -= bytes
  }
}
