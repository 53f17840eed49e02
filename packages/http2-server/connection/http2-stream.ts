import type { FrameOutput } from '../frames/frame-output.ts'
import { firstWindowBytes, frameBytesMax, frameFlags, frameTypes } from '../frames/frame-types.ts'
import type { ErrorCode } from '../frames/http2-error.ts'
import type { HeaderBlock } from '../hpack/header-block.ts'

/** Takes what comes on a stream. It must not throw: the connection does not know what an error would mean. */
export interface StreamHandler {
  /** Some of the request's content. The bytes are part of a larger piece: copy what is kept for long. */
  onData(bytes: Buffer): void
  /** The request is complete. */
  onEnd(): void
  /** The socket has taken so many bytes of the answer. */
  onTaken(bytes: number): void
  /** The stream has ended, whole or not. Nothing comes afterwards but `onTaken`. */
  onClose(): void
}

/** The connection, as its streams see it. */
export interface StreamOwner {
  /** True if the next header block must say that the table is empty. The stream that writes it sets it to false. */
  hasSmallTable: boolean
  /** The stream has something to send. */
  wake(stream: Http2Stream): void
  /** Sends RST_STREAM and forgets the stream. */
  cut(stream: Http2Stream, code: ErrorCode): void
  /** Lets the peer send so many further bytes. */
  credit(stream: Http2Stream, bytes: number): void
}

/** The answering half of one request, and the state of both halves (RFC 9113, section 5.1). */
export class Http2Stream {
  readonly id: number
  handler: StreamHandler = unhandled
  /** The bytes that may be sent. Negative after the peer has made its windows smaller. */
  sendWindow: number
  /** The bytes that may come. */
  receiveWindow = firstWindowBytes
  /** The bytes that came and that the peer was not told about. */
  creditedBytes = 0
  /** The content-length that the request names, less what has come. */
  bytesLeft: number | undefined
  isRequestComplete = false
  isClosed = false
  /** True while it stands in line to send. */
  isQueued = false
  /** The last time at which something was sent. */
  sentAtMs = 0
  readonly #owner: StreamOwner
  #head: HeaderBlock | undefined
  #hasResponded = false
  readonly #chunks: Uint8Array[] = []
  #firstAt = 0
  #chunkBytes = 0
  #trailers: HeaderBlock | undefined
  #isEnding = false
  #isAnswered = false
  #isPaused = false
  #uncredited = 0

  constructor(id: number, sendWindow: number, owner: StreamOwner) {
    this.id = id
    this.sendWindow = sendWindow
    this.#owner = owner
  }

  get hasResponded(): boolean {
    return this.#hasResponded
  }

  /** True if the answer is complete, sent or not. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** True if the whole answer was sent. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** Begins the answer. */
  respond(head: HeaderBlock): void {
    if (this.isClosed || this.#hasResponded) return
    this.#hasResponded = true
    this.#head = head
    this.#owner.wake(this)
  }

  /** Queues content. It does not copy it. The caller counts what waits, by `onTaken`. */
  write(bytes: Uint8Array): void {
    if (this.isClosed || this.#isEnding || bytes.length === 0) return
    this.#chunks.push(bytes)
    this.#chunkBytes += bytes.length
    this.#owner.wake(this)
  }

  /** Completes the answer. A request that goes on is reset then (RFC 9113, section 8.1). */
  end(trailers?: HeaderBlock): void {
    if (this.isClosed || this.#isEnding) return
    this.#isEnding = true
    this.#trailers = trailers
    this.#owner.wake(this)
  }

  reset(code: ErrorCode): void {
    if (!this.isClosed) this.#owner.cut(this, code)
  }

  /** Lets the peer send no more than its window. Bytes that have come already are still given to the handler. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    const bytes = this.#uncredited
    this.#uncredited = 0
    if (bytes > 0) this.#owner.credit(this, bytes)
  }

  /** Is called for bytes that have come, padding included. */
  onReceived(bytes: number): void {
    if (this.#isPaused) this.#uncredited += bytes
    else this.#owner.credit(this, bytes)
  }

  /** Returns the bytes that the peer sent while the stream was paused, for the connection's window. */
  takeUncredited(): number {
    const bytes = this.#uncredited
    this.#uncredited = 0
    return bytes
  }

  /** True if it could send now, but for the window of the connection. */
  get canSend(): boolean {
    if (this.#isAnswered || this.isClosed) return false
    if (this.#head !== undefined) return true
    return this.#chunkBytes > 0 ? this.sendWindow > 0 : this.#isEnding
  }

  /** True if only content may be sent next. */
  get needsWindow(): boolean {
    return this.#head === undefined && this.#chunkBytes > 0
  }

  /** Writes its next frames, with at most one of content. Returns the bytes that count for windows. */
  writeTo(output: FrameOutput, connectionWindow: number): number {
    if (this.#head !== undefined) {
      const isWhole = this.#isEnding && this.#chunkBytes === 0 && this.#trailers === undefined
      output.headers(this.id, this.#headBlock(this.#head), isWhole)
      this.#head = undefined
      if (isWhole) this.#isAnswered = true
    }
    const bytes = this.#writeContent(output, connectionWindow)
    if (this.#isEnding && this.#chunkBytes === 0 && !this.#isAnswered) this.#writeEnd(output)
    return bytes
  }

  #headBlock(head: HeaderBlock): HeaderBlock {
    if (!this.#owner.hasSmallTable) return head
    this.#owner.hasSmallTable = false
    return Buffer.concat([emptyTable, head])
  }

  #writeContent(output: FrameOutput, connectionWindow: number): number {
    const bytes = Math.min(this.#chunkBytes, frameBytesMax, this.sendWindow, connectionWindow)
    if (bytes <= 0) return 0
    const isLast = this.#isEnding && bytes === this.#chunkBytes && this.#trailers === undefined
    output.head(bytes, frameTypes.data, isLast ? frameFlags.endStream : 0, this.id)
    let left = bytes
    let used = 0
    for (let chunk = this.#chunks[0]; left > 0 && chunk; chunk = this.#chunks[used]) {
      const size = Math.min(chunk.length - this.#firstAt, left)
      const isWhole = size === chunk.length
      output.raw(isWhole ? chunk : chunk.subarray(this.#firstAt, this.#firstAt + size))
      left -= size
      this.#firstAt += size
      if (this.#firstAt < chunk.length) break
      this.#firstAt = 0
      used += 1
    }
    if (used === this.#chunks.length) this.#chunks.length = 0
    else if (used > 0) this.#chunks.splice(0, used)
    this.#chunkBytes -= bytes
    this.sendWindow -= bytes
    if (isLast) this.#isAnswered = true
    return bytes
  }

  #writeEnd(output: FrameOutput): void {
    this.#isAnswered = true
    if (this.#trailers !== undefined) return output.headers(this.id, this.#trailers, true)
    output.head(0, frameTypes.data, frameFlags.endStream, this.id)
  }
}

/** Sets the size of HPACK's table to 0 (RFC 7541, section 6.3). */
const emptyTable = Buffer.of(0x20)

const unhandled: StreamHandler = Object.freeze({
  onData() {},
  onEnd() {},
  onTaken() {},
  onClose() {},
})
