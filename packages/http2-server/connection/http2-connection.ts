import type { Socket } from 'node:net'
import type { Clock, Timer } from '@skerry/base'
import type { FrameOutput } from '../frames/frame-output.ts'
import { FrameReader } from '../frames/frame-reader.ts'
import { firstWindowBytes, frameFlags, frameTypes, windowBytesMax } from '../frames/frame-types.ts'
import { ConnectionError, StreamError, type ErrorCode } from '../frames/http2-error.ts'
import { HeaderDecoder } from '../hpack/header-decoder.ts'
import { http2Bounds, type Http2Limits } from '../limits-table.ts'
import { contentOf, priorityOf, type Payload } from './frame-payloads.ts'
import { acknowledgement, goaway, greetingOf, rstStream, windowUpdate } from './control-frames.ts'
import { Http2Stream, type StreamHandler, type StreamOwner } from './http2-stream.ts'
import { firstPeerSettings, readSettings } from './peer-settings.ts'
import { RateBucket } from './rate-bucket.ts'
import { FieldCollector, type RequestFields } from './request-fields.ts'
import { FrameSender } from './frame-sender.ts'

const bounds = http2Bounds.http2Connection

/** Is called for each request; returns who takes the rest of it. It must not throw. */
export type OnStream = (stream: Http2Stream, fields: RequestFields, socket: Socket) => StreamHandler

export interface ConnectionDeps {
  readonly clock: Clock
  readonly output: FrameOutput
  readonly onStream: OnStream
}

/** A header block that goes on in CONTINUATION. */
interface OpenBlock {
  readonly streamId: number
  readonly flags: number
  readonly parts: Buffer[]
  bytes: number
}

/**
 * One connection of HTTP/2 on the server's side (RFC 9113). No bytes of a peer make it throw: what breaks the protocol
 * ends the stream, or the connection. Priorities are ignored, and nothing is pushed.
 */
export class Http2Connection implements StreamOwner {
  /** True if the next header block must say that the table is empty (RFC 7541, section 4.2). */
  hasSmallTable = false
  readonly #socket: Socket
  readonly #limits: Http2Limits
  readonly #deps: ConnectionDeps
  readonly #reader = new FrameReader()
  readonly #decoder = new HeaderDecoder()
  readonly #fields: FieldCollector
  readonly #sending: FrameSender
  readonly #streams = new Map<number, Http2Stream>()
  readonly #settings = firstPeerSettings()
  readonly #resets: RateBucket
  readonly #idleFrames: RateBucket
  /** Streams that were reset here; the oldest is first. Their frames may still be on their way. */
  readonly #resetIds = new Set<number>()
  #hasSettings = false
  #block: OpenBlock | undefined
  #lastStreamId = 0
  #receiveWindow: number
  #uncredited = 0
  #isDraining = false
  #isEnded = false
  #linger: Timer | undefined
  readonly #late: Timer

  constructor(socket: Socket, limits: Http2Limits, deps: ConnectionDeps) {
    this.#socket = socket
    this.#limits = limits
    this.#deps = deps
    this.#fields = new FieldCollector(limits)
    this.#receiveWindow = limits.windowBytes
    this.#resets = new RateBucket(bounds.resetBurst, bounds.resetsPerSecond, deps.clock)
    this.#idleFrames = new RateBucket(bounds.idleFrameBurst, bounds.idleFramesPerSecond, deps.clock)
    this.#sending = new FrameSender(
      socket,
      { ...deps, unreadMs: limits.unreadMs },
      {
        onAnswered: (stream) => this.#onAnswered(stream),
        onFlood: () => this.destroy(),
        onWaiting: (sinceMs, isSocketStalled) => this.#onWaiting(sinceMs, isSocketStalled),
      },
    )
    this.#sending.control(greetingOf(limits))
    this.#late = deps.clock.setTimer(bounds.greetMs, () => this.destroy())
    socket.on('data', this.#onData)
    socket.once('end', () => this.destroy())
    socket.once('close', () => this.#onClosed())
  }

  /** Refuses new streams, lets those that are open end, and ends the connection then. */
  drain(): void {
    if (this.#isDraining || this.#isEnded) return
    this.#isDraining = true
    this.#sending.control(goaway(this.#lastStreamId, 'noError', ''))
    this.#endIfDrained()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  wake(stream: Http2Stream): void {
    this.#sending.wake(stream)
  }

  cut(stream: Http2Stream, code: ErrorCode): void {
    this.#sendReset(stream.id, code)
    this.#close(stream)
  }

  credit(stream: Http2Stream, bytes: number): void {
    this.#creditConnection(bytes)
    if (stream.isClosed || stream.isRequestComplete) return
    stream.creditedBytes += bytes
    if (stream.creditedBytes < firstWindowBytes / 2) return
    stream.receiveWindow += stream.creditedBytes
    this.#sending.control(windowUpdate(stream.id, stream.creditedBytes))
    stream.creditedBytes = 0
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      this.#reader.push(chunk)
      while (this.#reader.next()) {
        this.#onFrame(this.#reader)
        if (this.#isEnded) return
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#end(error.code, error.message)
    }
  }

  #onFrame(frame: FrameReader): void {
    if (this.#block !== undefined && frame.type !== frameTypes.continuation) {
      throw new ConnectionError('protocolError', 'CONTINUATION is missing')
    }
    if (!this.#hasSettings && (frame.type !== frameTypes.settings || isAck(frame))) {
      throw new ConnectionError('protocolError', 'SETTINGS must come first')
    }
    const handle = this.#handlers[frame.type]
    if (handle === undefined) return this.#countIdle()
    try {
      handle(frame)
    } catch (error) {
      if (!(error instanceof StreamError)) throw error
      this.#countReset()
      const stream = this.#streams.get(frame.streamId)
      if (stream) this.cut(stream, error.code)
      else this.#sendReset(frame.streamId, error.code)
    }
  }

  /** The handlers by type of frame. Frames of unknown types are ignored (RFC 9113, section 4.1). */
  readonly #handlers: readonly ((frame: FrameReader) => void)[] = [
    (frame) => this.#onContent(frame),
    (frame) => this.#onHeaders(frame),
    (frame) => this.#onPriority(frame),
    (frame) => this.#onReset(frame),
    (frame) => this.#onSettings(frame),
    () => {
      throw new ConnectionError('protocolError', 'a client may not push')
    },
    (frame) => this.#onPing(frame),
    (frame) => this.#onGoaway(frame),
    (frame) => this.#onWindowUpdate(frame),
    (frame) => this.#onContinuation(frame),
  ]

  #onContent(frame: FrameReader): void {
    const bytes = frame.end - frame.from
    const stream = this.#knownStream(frame)
    this.#receiveWindow -= bytes
    if (this.#receiveWindow < 0) {
      throw new ConnectionError('flowControlError', 'more came than the window allows')
    }
    const { from, end } = contentOf(frame)
    const isLast = (frame.flags & frameFlags.endStream) !== 0
    if (bytes === 0 && !isLast) this.#countIdle()
    if (stream === undefined || stream.isRequestComplete) {
      this.#creditConnection(bytes)
      if (stream === undefined && this.#isIgnored(frame.streamId)) return
      throw new StreamError('streamClosed', 'content came after the end')
    }
    stream.receiveWindow -= bytes
    if (stream.receiveWindow < 0) {
      this.#creditConnection(bytes)
      throw new StreamError('flowControlError', 'more came than the window allows')
    }
    if (stream.bytesLeft !== undefined) stream.bytesLeft -= end - from
    if (end > from) stream.handler.onData(frame.bytes.subarray(from, end))
    if (stream.isClosed) return this.#creditConnection(bytes)
    stream.isRequestComplete = isLast
    stream.onReceived(bytes)
    if (isLast) this.#completeRequest(stream)
  }

  #onHeaders(frame: FrameReader): void {
    const { streamId } = frame
    if (streamId % 2 === 0) throw new ConnectionError('protocolError', 'a stream of a server')
    const block = priorityOf(frame)
    if ((frame.flags & frameFlags.endHeaders) !== 0) {
      return this.#onBlock(streamId, frame.flags, { bytes: frame.bytes, ...block })
    }
    const part = Buffer.from(frame.bytes.subarray(block.from, block.end))
    this.#block = { streamId, flags: frame.flags, parts: [part], bytes: part.length }
  }

  #onContinuation(frame: FrameReader): void {
    const open = this.#block
    if (open === undefined || open.streamId !== frame.streamId) {
      throw new ConnectionError('protocolError', 'CONTINUATION of no header block')
    }
    open.parts.push(Buffer.from(frame.bytes.subarray(frame.from, frame.end)))
    open.bytes += frame.end - frame.from
    if (open.bytes > this.#limits.headerBytesMax || open.parts.length > bounds.blockFramesMax) {
      throw new ConnectionError('enhanceYourCalm', 'the fields of a request are too many')
    }
    if ((frame.flags & frameFlags.endHeaders) === 0) return
    this.#block = undefined
    const bytes = Buffer.concat(open.parts)
    this.#onBlock(open.streamId, open.flags, { bytes, from: 0, end: bytes.length })
  }

  #onBlock(streamId: number, flags: number, { bytes, from, end }: Payload): void {
    this.#decoder.decode(bytes, from, end, this.#fields.add)
    const isLast = (flags & frameFlags.endStream) !== 0
    if (streamId > this.#lastStreamId) return this.#open(streamId, isLast)
    const verdict = this.#fields.takeTrailers()
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (this.#isIgnored(streamId)) return
      throw new ConnectionError('streamClosed', 'fields came after the end')
    }
    if (stream.isRequestComplete) throw new StreamError('streamClosed', 'fields after the end')
    if (verdict !== 'good' || !isLast) throw new StreamError('protocolError', 'bad trailers')
    this.#completeRequest(stream)
  }

  #open(streamId: number, isLast: boolean): void {
    const { verdict, fields } = this.#fields.takeRequest()
    // A client repeats elsewhere what came after GOAWAY named an older stream.
    if (this.#isDraining) return
    this.#lastStreamId = streamId
    if (verdict === 'malformed') throw new StreamError('protocolError', 'malformed fields')
    if (verdict === 'tooLarge') throw new StreamError('enhanceYourCalm', 'too many fields')
    if (this.#streams.size >= this.#limits.streamsMax) {
      throw new StreamError('refusedStream', 'too many streams are open')
    }
    const stream = new Http2Stream(streamId, this.#settings.initialWindowBytes, this)
    const length = fields['content-length']
    if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw new StreamError('protocolError', 'content-length')
      stream.bytesLeft = Number(length)
    }
    this.#streams.set(streamId, stream)
    const handler = this.#deps.onStream(stream, fields, this.#socket)
    if (stream.isClosed) return handler.onClose()
    stream.handler = handler
    if (isLast) this.#completeRequest(stream)
  }

  #completeRequest(stream: Http2Stream): void {
    if (stream.bytesLeft !== undefined && stream.bytesLeft !== 0) {
      return this.cut(stream, 'protocolError')
    }
    stream.isRequestComplete = true
    stream.handler.onEnd()
    if (stream.isAnswered) this.#close(stream)
  }

  #onPriority(frame: FrameReader): void {
    if (frame.streamId === 0) throw new ConnectionError('protocolError', 'PRIORITY of no stream')
    if (frame.end - frame.from !== 5) throw new StreamError('frameSizeError', 'PRIORITY')
    if ((frame.bytes.readUInt32BE(frame.from) & 0x7fffffff) === frame.streamId) {
      throw new ConnectionError('protocolError', 'a stream depends on itself')
    }
    this.#countIdle()
  }

  #onReset(frame: FrameReader): void {
    const stream = this.#knownStream(frame)
    if (frame.end - frame.from !== 4) throw new ConnectionError('frameSizeError', 'RST_STREAM')
    this.#countReset()
    if (stream !== undefined) this.#close(stream)
  }

  #onSettings(frame: FrameReader): void {
    if (frame.streamId !== 0) throw new ConnectionError('protocolError', 'SETTINGS of a stream')
    if (isAck(frame)) {
      if (frame.end > frame.from) throw new ConnectionError('frameSizeError', 'SETTINGS')
      return
    }
    if (!this.#hasSettings) this.#late[Symbol.dispose]()
    this.#hasSettings = true
    this.#countIdle()
    const before = this.#settings.initialWindowBytes
    readSettings(this.#settings, frame)
    this.#sending.control(acknowledgement(frameTypes.settings, noBytes))
    if (this.#settings.headerTableBytes < firstPeerSettings().headerTableBytes) {
      this.hasSmallTable = true
    }
    const change = this.#settings.initialWindowBytes - before
    if (change !== 0) for (const stream of this.#streams.values()) this.#widen(stream, change)
  }

  #onPing(frame: FrameReader): void {
    if (frame.streamId !== 0) throw new ConnectionError('protocolError', 'PING of a stream')
    if (frame.end - frame.from !== 8) throw new ConnectionError('frameSizeError', 'PING')
    if (isAck(frame)) return this.#countIdle()
    const payload = frame.bytes.subarray(frame.from, frame.end)
    this.#sending.controlWithNext(acknowledgement(frameTypes.ping, payload))
  }

  #onGoaway(frame: FrameReader): void {
    if (frame.streamId !== 0) throw new ConnectionError('protocolError', 'GOAWAY of a stream')
    if (frame.end - frame.from < 8) throw new ConnectionError('frameSizeError', 'GOAWAY')
    this.drain()
  }

  #onWindowUpdate(frame: FrameReader): void {
    if (frame.end - frame.from !== 4) {
      throw new ConnectionError('frameSizeError', 'WINDOW_UPDATE')
    }
    const bytes = frame.bytes.readUInt32BE(frame.from) & 0x7fffffff
    if (frame.streamId === 0) {
      if (bytes === 0) throw new ConnectionError('protocolError', 'WINDOW_UPDATE of nothing')
      if (this.#sending.windowBytes + bytes > windowBytesMax) {
        throw new ConnectionError('flowControlError', 'the window is too large')
      }
      return this.#sending.widen(bytes)
    }
    const stream = this.#knownStream(frame)
    if (stream === undefined) return this.#countIdle()
    if (bytes === 0) throw new StreamError('protocolError', 'WINDOW_UPDATE of nothing')
    if (stream.sendWindow + bytes > windowBytesMax) {
      throw new StreamError('flowControlError', 'the window is too large')
    }
    this.#widen(stream, bytes)
  }

  #widen(stream: Http2Stream, change: number): void {
    stream.sendWindow += change
    if (stream.sendWindow > windowBytesMax) {
      throw new ConnectionError('flowControlError', 'the window is too large')
    }
    this.#sending.wake(stream)
  }

  /** Returns undefined for a stream that has ended. Throws ConnectionError for one that was never opened. */
  #knownStream({ streamId }: FrameReader): Http2Stream | undefined {
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) return stream
    const isIdle = streamId === 0 || streamId % 2 === 0 || streamId > this.#lastStreamId
    // After GOAWAY, newer streams are ignored.
    if (isIdle && !(this.#isDraining && streamId % 2 === 1)) {
      throw new ConnectionError('protocolError', 'a frame of an idle stream')
    }
    return undefined
  }

  #creditConnection(bytes: number): void {
    this.#uncredited += bytes
    if (this.#uncredited < this.#limits.windowBytes / 2) return
    this.#receiveWindow += this.#uncredited
    this.#sending.control(windowUpdate(0, this.#uncredited))
    this.#uncredited = 0
  }

  /** Counts a frame that changes nothing. */
  #countIdle(): void {
    if (this.#idleFrames.take()) return
    throw new ConnectionError('enhanceYourCalm', 'too many frames that carry nothing')
  }

  /** Counts a stream that its peer has reset, or has made the server reset, while its call goes on. */
  #countReset(): void {
    if (this.#resets.take()) return
    throw new ConnectionError('enhanceYourCalm', 'too many streams were reset')
  }

  /** Frames may still come on a stream that was reset here, or that came after GOAWAY. */
  #isIgnored(streamId: number): boolean {
    return this.#resetIds.has(streamId) || (this.#isDraining && streamId > this.#lastStreamId)
  }

  #onAnswered(stream: Http2Stream): void {
    if (stream.isClosed) return
    if (!stream.isRequestComplete) this.#sendReset(stream.id, 'noError')
    this.#close(stream)
  }

  #onWaiting(sinceMs: number, isSocketStalled: boolean): boolean {
    if (isSocketStalled) {
      this.destroy()
      return false
    }
    let isWaiting = false
    for (const stream of this.#streams.values()) {
      if (!stream.isEnding || stream.isAnswered) continue
      if (stream.sentAtMs <= sinceMs) this.cut(stream, 'cancel')
      else isWaiting = true
    }
    return isWaiting
  }

  #sendReset(streamId: number, code: ErrorCode): void {
    this.#resetIds.add(streamId)
    if (this.#resetIds.size > bounds.resetStreamsMax) {
      for (const oldest of this.#resetIds) {
        this.#resetIds.delete(oldest)
        break
      }
    }
    this.#sending.control(rstStream(streamId, code))
  }

  #close(stream: Http2Stream): void {
    stream.isClosed = true
    this.#streams.delete(stream.id)
    this.#creditConnection(stream.takeUncredited())
    stream.handler.onClose()
    this.#endIfDrained()
  }

  #endIfDrained(): void {
    if (!this.#isDraining || this.#isEnded || this.#streams.size > 0) return
    this.#isEnded = true
    this.#sending.flush()
    this.#finish()
  }

  /** Ends the connection for a reason that the peer is told. */
  #end(code: ErrorCode, why: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#sending.control(goaway(this.#lastStreamId, code, why))
    this.#sending.flush()
    this.#finish()
  }

  /** A socket that is destroyed while bytes arrive may lose what was sent last, so these are read for a moment. */
  #finish(): void {
    this.#socket.off('data', this.#onData)
    this.#socket.on('data', () => {})
    this.#socket.end()
    this.#linger = this.#deps.clock.setTimer(bounds.lingerMs, () => this.destroy())
    this.#onClosed()
  }

  #onClosed(): void {
    this.#isEnded = true
    this.#late[Symbol.dispose]()
    this.#sending.close()
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) {
      stream.isClosed = true
      stream.handler.onClose()
    }
    if (this.#socket.destroyed) this.#linger?.[Symbol.dispose]()
  }
}

const noBytes = Buffer.alloc(0)

function isAck({ flags }: FrameReader): boolean {
  return (flags & frameFlags.ack) !== 0
}
