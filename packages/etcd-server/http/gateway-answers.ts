import type { Caller, GrpcMethod } from '../grpc/grpc-call.ts'
import { grpcCodes, GrpcError } from '../grpc/grpc-error.ts'
import type { ByteBudget } from '../grpc/message-splitter.ts'
import { UnreadAnswers } from '../grpc/unread-answers.ts'
import type { MessageName } from '../wire/etcd-messages-table.ts'
import { answerText, type HttpExchange } from './http-exchange.ts'
import { httpStatuses } from './http-status.ts'
import { jsonPieces, jsonText } from './json-writer.ts'

const head = Object.freeze({
  'content-type': 'application/json',
  // The original's clients may look at it, since its gateway passes on each field of gRPC in this way.
  'grpc-metadata-content-type': 'application/grpc',
})

/** The answers to one request of the gateway: one object, or a line for each of several. It ends once. */
export class GatewayAnswers {
  readonly caller: Caller
  readonly #exchange: HttpExchange
  readonly #name: MessageName
  readonly #kind: GrpcMethod['kind']
  readonly #unread: UnreadAnswers
  readonly #abort = new AbortController()
  #isBegun = false
  #isEnded = false

  constructor(exchange: HttpExchange, method: GrpcMethod, caller: Caller, unread: ByteBudget) {
    this.#exchange = exchange
    this.#name = method.answer
    this.#kind = method.kind
    this.caller = caller
    this.#unread = new UnreadAnswers(unread)
    exchange.answer.once('close', () => {
      this.#isEnded = true
      this.#unread.clear()
      this.#abort.abort(new GrpcError('canceled', 'context canceled'))
    })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get isFull(): boolean {
    return this.#unread.isFull
  }

  whenDrained(): Promise<void> {
    return this.#unread.whenDrained(this.signal)
  }

  /** Sends one answer of several. Returns false if the reader is slow. */
  send(answer: object): boolean {
    if (this.#isEnded) return true
    const line = `{"result":${jsonText(this.#name, answer)}}\n`
    if (!this.#begin(Buffer.byteLength(line))) return true
    this.#write(line)
    return !this.isFull
  }

  /** Sends the only answer; `pause` lets others get through between its pieces. */
  async answer(answer: object, pause: () => Promise<void>): Promise<void> {
    const pieces: Buffer[] = []
    let bytes = 0
    for (const piece of jsonPieces(this.#name, answer)) {
      if (pieces.length > 0) await pause()
      const buffer = Buffer.from(piece)
      bytes += buffer.length
      pieces.push(buffer)
    }
    if (this.#isEnded || !this.#begin(bytes)) return
    this.#isEnded = true
    for (const piece of pieces) this.#write(piece)
    this.#exchange.answer.end()
  }

  /** Ends a stream of answers. */
  end(): void {
    if (this.#isEnded || !this.#begin(0)) return
    this.#isEnded = true
    this.#exchange.answer.end()
  }

  fail({ code, message }: GrpcError): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const status = httpStatuses[code]
    const grpcCode = grpcCodes[code]
    // etcd up to 3.5 has some of these fields, and later ones the others; clients look for either.
    if (this.#kind === 'unary') {
      const body = JSON.stringify({ error: message, code: grpcCode, message })
      return answerText(this.#exchange, status, body, head)
    }
    const error = { grpc_code: grpcCode, http_code: status, code: grpcCode, message }
    const line = `${JSON.stringify({ error })}\n`
    if (this.#isBegun) this.#exchange.answer.end(line)
    else answerText(this.#exchange, status, line, head)
  }

  /** Returns false if there is no room for more answers that nobody reads. */
  #begin(bytes: number): boolean {
    if (!this.#unread.hasRoomFor(bytes)) {
      this.fail(new GrpcError('resourceExhausted', 'etcdserver: too many requests'))
      return false
    }
    if (!this.#isBegun) this.#exchange.begin(httpStatuses.ok, head)
    this.#isBegun = true
    return true
  }

  #write(text: string | Buffer): void {
    const bytes = Buffer.byteLength(text)
    this.#unread.add(bytes)
    this.#exchange.answer.write(text, () => this.#unread.remove(bytes))
  }
}
