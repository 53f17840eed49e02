import { frameBytesMax, frameHeadBytes } from './frame-types.ts'
import { ConnectionError } from './http2-error.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const noBytes = Buffer.alloc(0)

/**
 * Splits the bytes of a connection into frames. After `next` has returned true, the fields describe one frame, until
 * the following call. It holds one frame in part.
 */
export class FrameReader {
  type = 0
  flags = 0
  streamId = 0
  /** The payload is bytes[from..end). */
  bytes: Buffer = noBytes
  from = 0
  end = 0
  #chunk: Buffer = noBytes
  #at = 0
  /** The part of a frame that has arrived, in room for the whole. */
  #part: Buffer = noBytes
  #partBytes = 0
  #prefaceBytes = 0

  /** Gives it the next bytes; `next` must have returned false before. */
  push(chunk: Buffer): void {
    this.#chunk = chunk
    this.#at = 0
    if (this.#prefaceBytes < preface.length) this.#skipPreface()
  }

  /** Returns false if more bytes must arrive first. Throws ConnectionError for a frame that is too large. */
  next(): boolean {
    if (this.#partBytes > 0) return this.#nextOfPart()
    const left = this.#chunk.length - this.#at
    const length = left < frameHeadBytes ? 0 : lengthAt(this.#chunk, this.#at)
    if (left < frameHeadBytes || left < frameHeadBytes + length) {
      this.#keep(left, Math.max(frameHeadBytes, frameHeadBytes + length))
      return false
    }
    this.#show(this.#chunk, this.#at, length)
    this.#at = this.end
    return true
  }

  #nextOfPart(): boolean {
    if (!this.#fill(frameHeadBytes)) return false
    const length = lengthAt(this.#part, 0)
    if (!this.#fill(frameHeadBytes + length)) return false
    this.#show(this.#part, 0, length)
    // The payload may outlive this frame, so the next part gets room of its own.
    this.#part = noBytes
    this.#partBytes = 0
    return true
  }

  #show(bytes: Buffer, at: number, length: number): void {
    this.type = bytes[at + 3] ?? 0
    this.flags = bytes[at + 4] ?? 0
    this.streamId = bytes.readUInt32BE(at + 5) & 0x7fffffff
    this.bytes = bytes
    this.from = at + frameHeadBytes
    this.end = this.from + length
  }

  /** Copies what is left of the chunk. */
  #keep(left: number, room: number): void {
    if (left > 0) {
      this.#part = Buffer.allocUnsafe(room)
      this.#chunk.copy(this.#part, 0, this.#at)
      this.#partBytes = left
    }
    this.#chunk = noBytes
    this.#at = 0
  }

  /** Returns false if the chunk ends before the part has so many bytes. */
  #fill(wanted: number): boolean {
    if (this.#partBytes >= wanted) return true
    if (this.#part.length < wanted) {
      const larger = Buffer.allocUnsafe(wanted)
      this.#part.copy(larger, 0, 0, this.#partBytes)
      this.#part = larger
    }
    const taken = Math.min(wanted - this.#partBytes, this.#chunk.length - this.#at)
    this.#chunk.copy(this.#part, this.#partBytes, this.#at, this.#at + taken)
    this.#partBytes += taken
    this.#at += taken
    return this.#partBytes >= wanted
  }

  #skipPreface(): void {
    const seen = this.#chunk.subarray(0, preface.length - this.#prefaceBytes)
    const end = this.#prefaceBytes + seen.length
    if (!seen.equals(preface.subarray(this.#prefaceBytes, end))) {
      throw new ConnectionError('protocolError', 'the preface of HTTP/2 is missing')
    }
    this.#prefaceBytes = end
    this.#at = seen.length
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
  if (length > frameBytesMax) {
    throw new ConnectionError('frameSizeError', `a frame of ${length} bytes`)
  }
  return length
}
