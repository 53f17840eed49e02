import { creditBytesMax, FrameError } from '../frame/tunnel-frame.ts'

/** Holds the bytes that one direction of a stream still has to send, and the credit for them. */
export class OutgoingBytes {
  readonly #chunks: Uint8Array[] = []
  /** The bytes of the first chunk that are already sent. */
  #offset = 0
  #queued = 0
  #credit: number
  #hasEnd = false
  #isEndTaken = false

  constructor(credit: number) {
    this.#credit = credit
  }

  /** Bytes that wait. */
  get queued(): number {
    return this.#queued
  }
  /** end() was called. */
  get hasEnd(): boolean {
    return this.#hasEnd
  }
  /** The end is on its way. */
  get isEndTaken(): boolean {
    return this.#isEndTaken
  }
  /** take() would give something. */
  get isReady(): boolean {
    if (this.#queued > 0) return this.#credit > 0
    return this.#hasEnd && !this.#isEndTaken
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#queued += chunk.length
  }

  end(): void {
    this.#hasEnd = true
  }

  /** Drops the end: it was sent, or nobody needs it. */
  endAtOnce(): void {
    this.#hasEnd = true
    this.#isEndTaken = true
  }

  addCredit(bytes: number): void {
    this.#credit += bytes
    if (this.#credit > creditBytesMax) throw new FrameError('more credit than there may be')
  }

  /** Copies as much as credit and room allow; returns the count. The last bytes take the end along. */
  take(target: Buffer, start: number, room: number): number {
    const most = Math.min(room, this.#credit, this.#queued)
    let taken = 0
    while (taken < most) {
      const [chunk] = this.#chunks
      if (chunk === undefined) break
      const part = Math.min(chunk.length - this.#offset, most - taken)
      target.set(chunk.subarray(this.#offset, this.#offset + part), start + taken)
      taken += part
      this.#offset += part
      if (this.#offset === chunk.length) {
        this.#chunks.shift()
        this.#offset = 0
      }
    }
    this.#credit -= taken
    this.#queued -= taken
    if (this.#hasEnd && this.#queued === 0) this.#isEndTaken = true
    return taken
  }

  clear(): void {
    this.#chunks.length = 0
    this.#offset = 0
    this.#queued = 0
  }
}
