/** How fast a link moves bytes, in each direction. */
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

/** A younger link has moved too little to tell a rate from its first burst. */
const spanMsMin = 1_000

/**
 * Rates over the last few samples, from counters that only grow. It is given a sample now and then, at
 * even intervals, and keeps `samplesMax` of them: an idle link costs nothing between two.
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

  /** Since the oldest sample. */
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
