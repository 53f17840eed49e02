import type { StreamHandler } from '@skerry/http2-server'
import { etcdServerBounds } from '../limits-table.ts'
import { decodeMessage } from '../wire/message-codec.ts'
import type { Deadlines } from './deadlines.ts'
import { LargeAnswer, type CallContext, type Caller, type ErasedUnary } from './grpc-call.ts'
import { GrpcError } from './grpc-error.ts'
import type { MessageSplitter } from './message-splitter.ts'
import { guarded, incomplete, type Calling } from './request-parts.ts'
import type { ServerCall } from './server-call.ts'

const { arriveMs } = etcdServerBounds.grpcServer

/** One message, and its answer. */
export class UnaryRequest implements StreamHandler, CallContext {
  readonly call: ServerCall
  readonly caller: Caller
  requestBytes = 0
  readonly #method: ErasedUnary
  readonly #splitter: MessageSplitter
  readonly #arriving: Deadlines<UnaryRequest>
  #message: Buffer | undefined

  constructor(method: ErasedUnary, calling: Calling & { arriving: Deadlines<UnaryRequest> }) {
    this.#method = method
    this.call = calling.call
    this.caller = calling.caller
    this.#splitter = calling.splitter
    this.#arriving = calling.arriving
    this.#arriving.add(this, arriveMs)
  }

  get signal(): AbortSignal {
    return this.call.signal
  }

  onData(bytes: Buffer): void {
    if (this.call.isEnded) return
    try {
      for (const message of this.#splitter.push(bytes)) {
        if (this.#message) throw new GrpcError('internal', 'one request is expected, several came')
        this.#message = message
      }
    } catch (error) {
      this.call.fail(error)
    }
  }

  onEnd(): void {
    this.#arriving.delete(this)
    if (this.call.isEnded) return
    try {
      const message = this.#message
      if (message === undefined || !this.#splitter.isBetweenMessages) throw incomplete()
      this.#answer(message)
    } catch (error) {
      this.call.fail(error)
    }
  }

  onTaken(bytes: number): void {
    this.call.onTaken(bytes)
  }

  onClose(): void {
    this.#arriving.delete(this)
    this.#splitter.clear()
    this.call.onClose()
  }

  #answer(message: Buffer): void {
    this.requestBytes = message.length
    const request = decodeMessage(this.#method.request, message)
    // The codec made this request from the message that the handler names.
    const answer = this.#method.handle(request as never, this)
    if (!(answer instanceof Promise)) return this.#send(answer)
    answer.then(
      (settled) => guarded(this.call, () => this.#send(settled)),
      (error: unknown) => this.call.fail(error),
    )
  }

  #send(answer: object): void {
    const { call } = this
    const name = this.#method.answer
    if (!(answer instanceof LargeAnswer)) return call.answer(name, answer)
    call.answerInParts(name, answer.parts).catch((error: unknown) => call.fail(error))
  }
}
