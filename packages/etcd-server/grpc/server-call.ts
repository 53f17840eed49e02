import { setImmediate as nextTurn } from 'node:timers/promises'
import { headerBlock, type Http2Stream } from '@skerry/http2-server'
import type { MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { encodeMessage } from '../wire/message-codec.ts'
import type { CallCounts } from './call-counts.ts'
import type { Deadlines } from './deadlines.ts'
import { encodedStatusText, GrpcError, grpcCodes, type GrpcCode } from './grpc-error.ts'
import { prefixOf, type MessageFramer } from './message-framer.ts'
import type { ByteBudget } from './message-splitter.ts'
import { timeoutMsOf } from './grpc-timeout.ts'
import { UnreadAnswers } from './unread-answers.ts'

export interface CallDeps {
  readonly deadlines: Deadlines<ServerCall>
  /** Counts answers that their readers have not taken. */
  readonly unread: ByteBudget
  readonly counts: CallCounts
  readonly framer: MessageFramer
  /** Puts an error of a handler into a status. */
  readonly toGrpcError: (error: unknown) => GrpcError
}

const headFields = Object.freeze({ ':status': 200, 'content-type': 'application/grpc' })
const head = headerBlock(headFields)
const okTrailers = headerBlock(trailersOf(grpcCodes.ok, ''))

/** The answering half of one call. It ends once: with a status, by its deadline, or with its peer. */
export class ServerCall {
  readonly #stream: Http2Stream
  readonly #deps: CallDeps
  readonly #unread: UnreadAnswers
  #abort: AbortController | undefined
  #isClosed = false
  #isEnded = false
  /** The path under which the call is counted. */
  #path: string | undefined

  constructor(stream: Http2Stream, deps: CallDeps) {
    this.#stream = stream
    this.#deps = deps
    this.#unread = new UnreadAnswers(deps.unread)
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
    return this.#stream.isClosed
  }

  get isFull(): boolean {
    return this.#unread.isFull
  }

  /** Counts the call when it ends. Only a known method may be counted. */
  countAs(path: string): void {
    this.#path = path
  }

  /** Ends the call when the client's deadline passes. */
  limitTime(timeout: string | undefined): void {
    const timeoutMs = timeoutMsOf(timeout)
    if (timeoutMs === undefined) return
    if (Number.isNaN(timeoutMs)) {
      throw new GrpcError('internal', 'malformed grpc-timeout: a number and a unit are expected')
    }
    this.#deps.deadlines.add(this, timeoutMs)
  }

  /** Sends one answer of several. Returns false if the reader is slow. */
  send<Name extends MessageName>(name: Name, answer: MessageDraft<Name>): boolean {
    if (this.#isEnded || this.#isGone) return true
    const frame = this.#deps.framer.frame(name, answer)
    if (!this.#mayQueue(frame.length)) return true
    this.#stream.respond(head)
    this.#write(frame)
    return !this.isFull
  }

  /** Resolves when the reader has taken half of what it may leave. Rejects when the call ends. */
  whenDrained(): Promise<void> {
    return this.#unread.whenDrained(this.signal)
  }

  /** Answers with one message and the status OK. */
  answer<Name extends MessageName>(name: Name, answer: MessageDraft<Name>): void {
    if (this.#isEnded || this.#isGone) return
    const frame = this.#deps.framer.frame(name, answer)
    if (!this.#mayQueue(frame.length)) return
    this.#finish('ok')
    this.#stream.respond(head)
    this.#write(frame)
    this.#stream.end(okTrailers)
  }

  /** Answers with one message, whose parts are encoded in turns of their own, and the status OK. */
  async answerInParts<Name extends MessageName>(
    name: Name,
    parts: readonly MessageDraft<Name>[],
  ): Promise<void> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (const part of parts) {
      if (this.#isEnded || this.#isGone) return
      const piece = encodeMessage(name, part).done()
      pieces.push(piece)
      bytes += piece.length
      await nextTurn()
    }
    if (this.#isEnded || this.#isGone || !this.#mayQueue(bytes)) return
    pieces.unshift(prefixOf(bytes))
    this.#finish('ok')
    this.#stream.respond(head)
    for (const piece of pieces) this.#write(piece)
    this.#stream.end(okTrailers)
  }

  /** Ends a stream of answers with the status OK. */
  end(): void {
    if (this.#isEnded || this.#isGone) return
    this.#finish('ok')
    this.#stream.respond(head)
    this.#stream.end(okTrailers)
  }

  fail(error: unknown): void {
    if (this.#isEnded || this.#isGone) return
    const { code, message } = this.#deps.toGrpcError(error)
    this.#finish(code)
    const trailers = trailersOf(grpcCodes[code], message)
    if (this.#stream.hasResponded) return this.#stream.end(headerBlock(trailers))
    this.#stream.respond(headerBlock({ ...headFields, ...trailers }))
    this.#stream.end()
  }

  /** All answers that are not read share one bound. */
  #write(bytes: Uint8Array): void {
    this.#unread.add(bytes.length)
    this.#stream.write(bytes)
  }

  /** The reader has taken so many bytes of the answers. */
  onTaken(bytes: number): void {
    this.#unread.remove(bytes)
  }

  #mayQueue(bytes: number): boolean {
    if (this.#unread.hasRoomFor(bytes)) return true
    this.fail(new GrpcError('resourceExhausted', 'etcdserver: too many requests'))
    return false
  }

  #finish(code: GrpcCode): void {
    this.#isEnded = true
    if (this.#path !== undefined) this.#deps.counts.add(this.#path, code)
    this.#deps.deadlines.delete(this)
  }

  /** The stream has ended, whole or not. */
  onClose(): void {
    if (!this.#isEnded && this.#path !== undefined) this.#deps.counts.add(this.#path, 'canceled')
    this.#isEnded = true
    this.#deps.deadlines.delete(this)
    this.#isClosed = true
    this.#abort?.abort(new GrpcError('canceled', 'context canceled'))
    this.#unread.clear()
  }
}

function trailersOf(code: number, text: string): Readonly<Record<string, string>> {
  return { 'grpc-status': String(code), 'grpc-message': encodedStatusText(text) }
}
