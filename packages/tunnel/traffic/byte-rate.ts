import { tunnelBounds } from '../limits-table.ts'

/** The rate at which a link moves bytes, in each direction. */
export interface ByteRates {
  readonly inPerSecond: number
  readonly outPerSecond: number
}

interface ByteCounts {
  readonly bytesIn: number
  readonly bytesOut: number
}

interface Sample extends ByteCounts {
  readonly atMs: number
}

const { spanMsMin } = tunnelBounds.byteRate

/**
 * Computes rates over the last few samples of counters that only grow. It gets samples at even intervals, and
 * keeps `samplesMax` of them: between two, an idle link costs nothing.
 */
export class ByteMeter {
  readonly #counts: ByteCounts
  readonly #samplesMax: number
  readonly #samples: Sample[] = []

  constructor(counts: ByteCounts, samplesMax: number, nowMs: number) {
    this.#counts = counts
    this.#samplesMax = samplesMax
    this.sample(nowMs)
  }

  sample(nowMs: number): void {
    const { bytesIn, bytesOut } = this.#counts
    this.#samples.push({ bytesIn, bytesOut, atMs: nowMs })
    if (this.#samples.length > this.#samplesMax) this.#samples.shift()
  }

  /** Returns the rates since the oldest sample. */
  rates(nowMs: number): ByteRates {
    const [oldest] = this.#samples
    if (oldest === undefined) return { inPerSecond: 0, outPerSecond: 0 }
    const seconds = Math.max(spanMsMin, nowMs - oldest.atMs) / 1_000
    const { bytesIn, bytesOut } = this.#counts
    return {
      inPerSecond: Math.round((bytesIn - oldest.bytesIn) / seconds),
      outPerSecond: Math.round((bytesOut - oldest.bytesOut) / seconds),
    }
  }
}
