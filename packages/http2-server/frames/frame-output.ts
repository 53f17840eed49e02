import { http2Bounds } from '../limits-table.ts'
import { frameBytesMax, frameFlags, frameHeadBytes, frameTypes } from './frame-types.ts'

const { slabBytes, copiedBytesMax } = http2Bounds.frameOutput

/**
 * Collects frames for one write to a socket. Small pieces are copied into a slab that all connections share; a slab
 * lives as long as something in it is not written.
 */
export class FrameOutput {
  #slab = Buffer.allocUnsafeSlow(slabBytes)
  #start = 0
  #at = 0
  #parts: Uint8Array[] = []
  #partBytes = 0

  /** The size of all that was collected. */
  get bytes(): number {
    return this.#partBytes + this.#at - this.#start
  }

  head(length: number, type: number, flags: number, streamId: number): void {
    const at = this.#room(frameHeadBytes)
    const slab = this.#slab
    slab[at] = length >> 16
    slab[at + 1] = length >> 8
    slab[at + 2] = length
    slab[at + 3] = type
    slab[at + 4] = flags
    slab[at + 5] = streamId >> 24
    slab[at + 6] = streamId >> 16
    slab[at + 7] = streamId >> 8
    slab[at + 8] = streamId
  }

  raw(bytes: Uint8Array): void {
    if (bytes.length <= copiedBytesMax) {
      const at = this.#room(bytes.length)
      this.#slab.set(bytes, at)
      return
    }
    this.#seal()
    this.#parts.push(bytes)
    this.#partBytes += bytes.length
  }

  /** Writes a block as HEADERS, and CONTINUATION if it is long. */
  headers(streamId: number, block: Uint8Array, isLast: boolean): void {
    const endStream = isLast ? frameFlags.endStream : 0
    const end = block.length
    for (let from = 0; from === 0 || from < end; from += frameBytesMax) {
      const length = Math.min(end - from, frameBytesMax)
      const endHeaders = from + length === end ? frameFlags.endHeaders : 0
      const type = from === 0 ? frameTypes.headers : frameTypes.continuation
      this.head(length, type, endHeaders | (from === 0 ? endStream : 0), streamId)
      this.raw(length === end ? block : block.subarray(from, from + length))
    }
  }

  /** Returns what was collected, and starts again. */
  take(): readonly Uint8Array[] {
    this.#seal()
    const parts = this.#parts
    this.#parts = []
    this.#partBytes = 0
    return parts
  }

  /** Returns the position of the next `size` bytes of the slab. */
  #room(size: number): number {
    if (this.#at + size > slabBytes) {
      this.#seal()
      this.#slab = Buffer.allocUnsafeSlow(slabBytes)
      this.#start = 0
      this.#at = 0
    }
    const at = this.#at
    this.#at += size
    return at
  }

  #seal(): void {
    if (this.#at === this.#start) return
    this.#parts.push(this.#slab.subarray(this.#start, this.#at))
    this.#partBytes += this.#at - this.#start
    this.#start = this.#at
  }
}
