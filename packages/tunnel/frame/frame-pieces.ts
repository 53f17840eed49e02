import { FrameError, frameHeaderBytes, readFrameHeader } from './tunnel-frame.ts'
import type { FrameHeader, FrameType } from './tunnel-frame.ts'

/** A frame, whole. */
export interface Frame {
  readonly type: FrameType
  /** The sender's direction of the stream ends with it. */
  readonly isEnd: boolean
  readonly stream: number
  /** A view of the received bytes if the frame came in one piece. */
  readonly payload: Buffer
  /** The length with the header. */
  readonly wireBytes: number
}

/**
 * Finds the frames in messages whose bytes come in arbitrary pieces. A frame waits until it is complete, at
 * most a message's limit: passing bodies on in many small pieces costs more than one copy.
 */
export class FramePieces {
  /** The beginning of a header that is not whole. */
  #cut: Buffer | undefined
  /** The header of a frame whose payload is incomplete. */
  #header: FrameHeader | undefined
  /** The bytes of that payload still to come. */
  #bytesLeft = 0
  #parts: Buffer[] | undefined
  #isBegun = false

  /** Throws FrameError at the first bad frame, and must not be used afterwards. */
  read(piece: Buffer, isLast: boolean, onFrame: (frame: Frame) => void): void {
    const bytes = this.#cut ? Buffer.concat([this.#cut, piece]) : piece
    this.#cut = undefined
    let offset = this.#header ? this.#take(this.#header, bytes, 0, onFrame) : 0
    while (this.#header === undefined && bytes.length - offset >= frameHeaderBytes) {
      const header = readFrameHeader(bytes, offset)
      this.#isBegun = true
      this.#bytesLeft = header.length
      const at = offset + frameHeaderBytes
      offset = this.#take(header, bytes, at, onFrame)
    }
    if (offset < bytes.length) this.#cut = Buffer.from(bytes.subarray(offset))
    if (isLast) this.#onMessageEnd()
  }

  /** Takes the available part of the payload, and returns where it ends. */
  #take(header: FrameHeader, bytes: Buffer, at: number, onFrame: (frame: Frame) => void): number {
    const { type, stream } = header
    const end = Math.min(bytes.length, at + this.#bytesLeft)
    const part = bytes.subarray(at, end)
    this.#bytesLeft -= part.length
    const isWhole = this.#bytesLeft === 0
    this.#header = isWhole ? undefined : header
    if (isWhole) {
      const payload = this.#parts ? Buffer.concat([...this.#parts, part]) : part
      this.#parts = undefined
      const wireBytes = frameHeaderBytes + payload.length
      onFrame({ type, isEnd: header.isEnd, stream, payload, wireBytes })
    } else (this.#parts ??= []).push(part)
    return end
  }

  #onMessageEnd(): void {
    if (this.#cut) throw new FrameError('a frame is cut short')
    if (this.#header) throw new FrameError('a frame is longer than its message')
    if (!this.#isBegun) throw new FrameError('a message without a frame')
    this.#isBegun = false
  }
}
