/** The framing of a watch's events: lines of JSON, or protobuf with length prefixes. */
export type Framing = 'lines' | 'lengths'

/** The memory that all watches of a process use for partial events. */
export interface PartialBudget {
  usedBytes: number
  readonly bytesMax: number
}

const lineEnd = 10
const lengthBytes = 4
const nothing = Buffer.alloc(0)

/** Cuts a watch's bytes into whole events, and keeps the last partial one until the rest comes. */
export class FrameSplitter implements Disposable {
  readonly #framing: Framing
  readonly #frameBytesMax: number
  readonly #budget: PartialBudget
  /** Holds the partial event at its start; it grows by doubling, however small the pieces are. */
  #kept = nothing
  #keptBytes = 0

  constructor(framing: Framing, frameBytesMax: number, budget: PartialBudget) {
    this.#framing = framing
    this.#frameBytesMax = frameBytesMax
    this.#budget = budget
  }

  /** True if more is kept than allowed: take the rest, and continue without this splitter. */
  get isTooLong(): boolean {
    return this.#keptBytes > this.#frameBytesMax || this.#budget.usedBytes > this.#budget.bytesMax
  }

  /** The whole events that end in this chunk, as views of it where they began there. */
  push(chunk: Uint8Array): Buffer[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const frames: Buffer[] = []
    let at = 0
    for (let end = this.#endOf(bytes, at); end !== undefined; end = this.#endOf(bytes, at)) {
      const last = bytes.subarray(at, end)
      frames.push(this.#keptBytes === 0 ? last : Buffer.concat([this.takeRest(), last]))
      at = end
    }
    if (at < bytes.length) this.#keep(bytes.subarray(at))
    return frames
  }

  /** Returns the bytes of the next event that have come so far, and drops them. */
  takeRest(): Buffer {
    const rest = this.#kept.subarray(0, this.#keptBytes)
    this.#budget.usedBytes -= this.#keptBytes
    this.#kept = nothing
    this.#keptBytes = 0
    return rest
  }

  [Symbol.dispose](): void {
    this.takeRest()
  }

  /** Returns where in the chunk the event ends that begins at `at`, or that began in the kept bytes. */
  #endOf(chunk: Buffer, at: number): number | undefined {
    if (this.#framing === 'lines') {
      const found = chunk.indexOf(lineEnd, at)
      return found < 0 ? undefined : found + 1
    }
    const length = this.#lengthFrom(chunk, at)
    if (length === undefined) return undefined
    const end = at + lengthBytes + length - this.#keptBytes
    return end <= chunk.length ? end : undefined
  }

  #lengthFrom(chunk: Buffer, at: number): number | undefined {
    if (this.#keptBytes >= lengthBytes) return this.#kept.readUInt32BE(0)
    if (this.#keptBytes + chunk.length - at < lengthBytes) return undefined
    if (this.#keptBytes === 0) return chunk.readUInt32BE(at)
    const kept = this.#kept.subarray(0, this.#keptBytes)
    return Buffer.concat([kept, chunk.subarray(at, at + lengthBytes)]).readUInt32BE(0)
  }

  #keep(part: Buffer): void {
    const bytes = this.#keptBytes + part.length
    if (bytes > this.#kept.length) {
      // A copy: a view of a message would hold all of it.
      const grown = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#kept.length))
      this.#kept.copy(grown, 0, 0, this.#keptBytes)
      this.#kept = grown
    }
    part.copy(this.#kept, this.#keptBytes)
    this.#keptBytes = bytes
    this.#budget.usedBytes += part.length
  }
}
