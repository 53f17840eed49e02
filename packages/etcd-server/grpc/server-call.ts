import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import {
  MalformedProtobufError,
  ProtoWriter,
  whenSilent,
  type Clock,
  type Timer,
} from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import type { MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { encodeMessage } from '../wire/message-codec.ts'
import { encodedStatusText, GrpcError, grpcCodes } from './grpc-error.ts'
import type { ByteBudget } from './message-splitter.ts'
import { timeoutMsOf } from './grpc-timeout.ts'

const { unreadMs, streamUnreadBytesMax } = etcdServerBounds.grpcServer

export interface CallDeps {
  readonly clock: Clock
  /** Counts answers that their readers have not taken. */
  readonly unread: ByteBudget
  /** Puts an error of a handler into a status. */
  readonly toGrpcError: (error: unknown) => GrpcError
}

const head = Object.freeze({ ':status': 200, 'content-type': 'application/grpc' })

/** The answering half of one call. It ends once: with a status, by its deadline, or with its peer. */
export class ServerCall {
  readonly #stream: ServerHttp2Stream
  readonly #deps: CallDeps
  #abort: AbortController | undefined
  #unreadBytes = 0
  #onDrained: (() => void)[] = []
  #isClosed = false
  #deadline: Timer | undefined
  #isEnded = false
  #status: { code: number; text: string } = { code: 0, text: '' }

  constructor(stream: ServerHttp2Stream, deps: CallDeps) {
    this.#stream = stream
    this.#deps = deps
    stream.once('close', () => this.#onClosed())
    stream.once('wantTrailers', () => {
      const { code, text } = this.#status
      if (!this.#isGone) stream.sendTrailers(trailersOf(code, text))
    })
  }

  get signal(): AbortSignal {
    // Most calls end within a turn, and nobody asks for it.
    this.#abort ??= new AbortController()
    if (this.#isClosed) this.#abort.abort(new GrpcError('canceled', 'context canceled'))
    return this.#abort.signal
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** A stream that its peer has reset accepts nothing, though it may still have to report its end. */
  get #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  get isFull(): boolean {
    return this.#unreadBytes >= streamUnreadBytesMax
  }

  /** Ends the call when the client's deadline passes. */
  limitTime(headers: IncomingHttpHeaders): void {
    const timeoutMs = timeoutMsOf(headers['grpc-timeout'])
    if (timeoutMs === undefined) return
    if (Number.isNaN(timeoutMs)) {
      throw new GrpcError('internal', 'malformed grpc-timeout: a number and a unit are expected')
    }
    const late = new GrpcError('deadlineExceeded', 'context deadline exceeded')
    this.#deadline = this.#deps.clock.setTimer(timeoutMs, () => this.fail(late))
  }

  /** Sends one answer of several. Returns false if the reader is slow. */
  send<Name extends MessageName>(name: Name, answer: MessageDraft<Name>): boolean {
    if (this.#isEnded || this.#isGone) return true
    const frame = this.#frame(name, answer)
    if (!this.#mayQueue(frame.length)) return true
    if (!this.#stream.headersSent) this.#stream.respond(head, { waitForTrailers: true })
    this.#count(frame.length, (done) => this.#stream.write(frame, done))
    return !this.isFull
  }

  /** Resolves when the reader has taken half of what it may leave. Rejects when the call ends. */
  whenDrained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this
      if (signal.aborted) return reject(signal.reason)
      if (!this.isFull) return resolve()
      const onAbort = (): void => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      this.#onDrained.push(() => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      })
    })
  }

  /** Answers with one message and the status OK. */
  answer<Name extends MessageName>(name: Name, answer: MessageDraft<Name>): void {
    if (this.#isEnded || this.#isGone) return
    const frame = this.#frame(name, answer)
    if (!this.#mayQueue(frame.length)) return
    this.#finish()
    this.#stream.respond(head, { waitForTrailers: true })
    this.#count(frame.length, (done) => this.#stream.end(frame, done))
  }

  /** Ends a stream of answers with the status OK. */
  end(): void {
    if (this.#isEnded || this.#isGone) return
    this.#finish()
    if (!this.#stream.headersSent) this.#stream.respond(head, { waitForTrailers: true })
    this.#stream.end()
  }

  fail(error: unknown): void {
    if (this.#isEnded || this.#isGone) return
    const { code, message } = error instanceof GrpcError ? error : this.#toGrpcError(error)
    this.#finish()
    this.#status = { code: grpcCodes[code], text: message }
    if (this.#stream.headersSent) this.#stream.end()
    else {
      const fields = { ...head, ...trailersOf(grpcCodes[code], message) }
      this.#stream.respond(fields, { endStream: true })
    }
    if (this.#stream.readableEnded) return
    // The rest of the request is of no use any more. A reset at once would overtake the status.
    setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR))
  }

  #toGrpcError(error: unknown): GrpcError {
    if (error instanceof MalformedProtobufError) {
      return new GrpcError('internal', `grpc: error unmarshalling request: ${error.why}`)
    }
    return this.#deps.toGrpcError(error)
  }

  /** A length of four bytes after a flag, then the message. */
  #frame<Name extends MessageName>(name: Name, answer: MessageDraft<Name>): Uint8Array {
    const writer = encodeMessage(name, answer, new ProtoWriter())
    const prefix = Buffer.alloc(5)
    prefix.writeUInt32BE(writer.length, 1)
    writer.raw(prefix)
    return writer.done()
  }

  /** All answers that are not read share one bound. */
  #count(bytes: number, write: (done: () => void) => void): void {
    this.#deps.unread.used += bytes
    this.#unreadBytes += bytes
    write(() => this.#uncount(Math.min(bytes, this.#unreadBytes)))
  }

  #uncount(bytes: number): void {
    this.#deps.unread.used -= bytes
    this.#unreadBytes -= bytes
    if (this.#onDrained.length === 0 || this.#unreadBytes > streamUnreadBytesMax / 2) return
    const waiting = this.#onDrained
    this.#onDrained = []
    for (const resume of waiting) resume()
  }

  #mayQueue(bytes: number): boolean {
    const { unread } = this.#deps
    if (unread.used === 0 || unread.used + bytes <= unread.max) return true
    this.fail(new GrpcError('resourceExhausted', 'etcdserver: too many requests'))
    return false
  }

  /** A reader that takes nothing of its answer for a minute loses the call. */
  #finish(): void {
    this.#isEnded = true
    this.#deadline?.[Symbol.dispose]()
    whenSilent(this.#stream, unreadMs, () => this.#stream.close(constants.NGHTTP2_CANCEL))
  }

  #onClosed(): void {
    this.#isEnded = true
    this.#deadline?.[Symbol.dispose]()
    this.#isClosed = true
    this.#abort?.abort(new GrpcError('canceled', 'context canceled'))
    this.#uncount(this.#unreadBytes)
  }
}

function trailersOf(code: number, text: string): Record<string, string> {
  return { 'grpc-status': String(code), 'grpc-message': encodedStatusText(text) }
}
