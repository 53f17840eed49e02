import type { Http2Stream, StreamHandler } from '@skerry/http2-server'
import { etcdServerBounds } from '../limits-table.ts'
import { decodeMessage } from '../wire/message-codec.ts'
import type { AnswerStream, ErasedStream } from './grpc-call.ts'
import { GrpcError } from './grpc-error.ts'
import type { MessageSplitter } from './message-splitter.ts'
import { guarded, incomplete, type Calling } from './request-parts.ts'
import { RequestQueue } from './request-queue.ts'
import type { ServerCall } from './server-call.ts'

const { waitingMessagesMax } = etcdServerBounds.grpcServer

/** Many messages, and many answers. */
export class StreamingRequest implements StreamHandler {
  readonly #method: ErasedStream
  readonly #call: ServerCall
  readonly #splitter: MessageSplitter
  readonly #requests: RequestQueue<unknown>

  constructor(method: ErasedStream, stream: Http2Stream, { call, caller, splitter }: Calling) {
    this.#method = method
    this.#call = call
    this.#splitter = splitter
    const pause = (isPaused: boolean): void => (isPaused ? stream.pause() : stream.resume())
    this.#requests = new RequestQueue(waitingMessagesMax, pause)
    const answers: AnswerStream<never> = {
      caller,
      signal: call.signal,
      send: (answer: object) => call.send(method.answer, answer),
      get isFull() {
        return call.isFull
      },
      whenDrained: () => call.whenDrained(),
    }
    // The codec made these requests from the message that the handler names.
    method.handle(this.#requests as AsyncIterable<never>, answers).then(
      () => call.end(),
      (error: unknown) => call.fail(error),
    )
  }

  onData(bytes: Buffer): void {
    if (this.#call.isEnded) return
    guarded(this.#call, () => {
      for (const message of this.#splitter.push(bytes)) {
        this.#requests.push(decodeMessage(this.#method.request, message))
      }
    })
  }

  onEnd(): void {
    if (this.#splitter.isBetweenMessages) this.#requests.end()
    else this.#call.fail(incomplete())
  }

  onTaken(bytes: number): void {
    this.#call.onTaken(bytes)
  }

  onClose(): void {
    this.#splitter.clear()
    this.#requests.fail(new GrpcError('canceled', 'context canceled'))
    this.#call.onClose()
  }
}
