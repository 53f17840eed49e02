import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import type { CallCounts } from '../grpc/call-counts.ts'
import {
  LargeAnswer,
  type ErasedStream,
  type ErasedUnary,
  type GrpcMethod,
  type GrpcServices,
} from '../grpc/grpc-call.ts'
import { GrpcError } from '../grpc/grpc-error.ts'
import { callerOf } from '../grpc/caller-of.ts'
import type { ByteBudget } from '../grpc/message-splitter.ts'
import { RequestQueue } from '../grpc/request-queue.ts'
import { decodeMessage, encodeMessage } from '../wire/message-codec.ts'
import type { MessageName } from '../wire/etcd-messages-table.ts'
import { GatewayAnswers } from './gateway-answers.ts'
import { gatewayRoutes } from './gateway-routes-table.ts'
import { answerText, type HttpExchange } from './http-exchange.ts'
import { JsonSplitter } from './json-splitter.ts'
import { MalformedJsonError, readJson } from './json-reader.ts'

const { arriveMs, overheadBytes, waitingMessagesMax } = etcdServerBounds.grpcServer
const { growth } = etcdServerBounds.gateway

export interface GatewayOptions {
  readonly services: GrpcServices
  readonly requestBytesMax: number
  /** Counts bytes of requests that have arrived in part, and answers that their readers have not taken. */
  readonly partial: ByteBudget
  readonly unread: ByteBudget
  readonly counts: CallCounts
  readonly toGrpcError: (error: unknown) => GrpcError
}

/** Answers etcd's methods as JSON over HTTP, as etcd's own gateway does. No peer's bytes make it throw. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #clock: Clock

  constructor(options: GatewayOptions, { clock }: { clock: Clock }) {
    this.#options = options
    this.#clock = clock
  }

  onRequest(exchange: HttpExchange): void {
    const path = gatewayRoutes[exchange.path]
    const [, service = '', name = ''] = path?.split('/') ?? []
    const method = this.#options.services[service]?.[name]
    if (path === undefined || method === undefined) return refuse(exchange, 404, 5, 'Not Found')
    if (exchange.method !== 'POST') return refuse(exchange, 501, 12, 'Method Not Allowed')
    const { unread } = this.#options
    const answers = new GatewayAnswers(exchange, method, callerOf(exchange.headers), unread)
    const call = { exchange, answers, path }
    if (method.kind === 'unary') this.#unary(method, call)
    else this.#stream(method, call)
  }

  #unary(method: ErasedUnary, call: GatewayCall): void {
    const late = new GrpcError('deadlineExceeded', 'the request did not arrive in time')
    const timer = this.#clock.setTimer(arriveMs, () => this.#fail(call, late))
    let isAsked = false
    this.#read(method, call, {
      onRequest: (bytes) => {
        timer[Symbol.dispose]()
        if (isAsked) return
        isAsked = true
        this.#answer(method, bytes, call)
      },
      // A body without anything is a message without fields.
      onEnd: () => {
        timer[Symbol.dispose]()
        if (!isAsked) this.#answer(method, new Uint8Array(0), call)
      },
    })
    call.exchange.answer.once('close', () => timer[Symbol.dispose]())
  }

  #answer(method: ErasedUnary, bytes: Uint8Array, call: GatewayCall): void {
    const { answers } = call
    const context = { requestBytes: bytes.length, signal: answers.signal, caller: answers.caller }
    const work = async (): Promise<void> => {
      // The codec made this request from the message that the handler names.
      const request = decodeMessage(method.request, bytes) as never
      const answer = await method.handle(request, context)
      await answers.answer(answer instanceof LargeAnswer ? answer.whole : answer, nextTurn)
      this.#options.counts.add(call.path, 'ok')
    }
    work().catch((error: unknown) => this.#fail(call, error))
  }

  #stream(method: ErasedStream, call: GatewayCall): void {
    const { body } = call.exchange
    const pause = (isPaused: boolean): void => void (isPaused ? body.pause() : body.resume())
    const requests = new RequestQueue<unknown>(waitingMessagesMax, pause)
    this.#read(method, call, {
      onRequest: (bytes) => requests.push(decodeMessage(method.request, bytes)),
      onEnd: () => requests.end(),
    })
    call.exchange.answer.once('close', () => {
      requests.fail(new GrpcError('canceled', 'context canceled'))
    })
    // The codec made these requests from the message that the handler names.
    const handled = Promise.try(() => method.handle(requests as AsyncIterable<never>, call.answers))
    handled.then(
      () => {
        call.answers.end()
        this.#options.counts.add(call.path, 'ok')
      },
      (error: unknown) => this.#fail(call, error),
    )
  }

  /** Hands over each request of the body as protobuf, whose size is what the limits mean. */
  #read(method: GrpcMethod, call: GatewayCall, { onRequest, onEnd }: RequestReader): void {
    const { body } = call.exchange
    const { requestBytesMax, partial } = this.#options
    const splitter = new JsonSplitter(growth * (requestBytesMax + overheadBytes), partial)
    const guarded = (work: () => void): void => {
      if (call.answers.isEnded) return
      try {
        work()
      } catch (error) {
        splitter.clear()
        this.#fail(call, error)
      }
    }
    body.on('data', (chunk: Buffer) => {
      guarded(() => {
        for (const text of splitter.push(chunk)) onRequest(this.#encoded(method.request, text))
      })
    })
    body.once('end', () => {
      guarded(() => {
        if (!splitter.isBetweenObjects) throw new MalformedJsonError('it ends too early')
        onEnd()
      })
    })
    body.once('close', () => splitter.clear())
  }

  #encoded(name: MessageName, text: string): Uint8Array {
    const bytes = encodeMessage(name, readJson(name, text)).done()
    const bytesMax = this.#options.requestBytesMax + overheadBytes
    if (bytes.length <= bytesMax) return bytes
    const why = `grpc: received message larger than max (${bytes.length} vs. ${bytesMax})`
    throw new GrpcError('resourceExhausted', why)
  }

  #fail({ answers, path }: GatewayCall, error: unknown): void {
    if (answers.isEnded) return
    const status =
      error instanceof MalformedJsonError
        ? new GrpcError('invalidArgument', error.why)
        : this.#options.toGrpcError(error)
    this.#options.counts.add(path, status.code)
    answers.fail(status)
  }
}

interface GatewayCall {
  readonly exchange: HttpExchange
  readonly answers: GatewayAnswers
  readonly path: string
}

interface RequestReader {
  readonly onRequest: (bytes: Uint8Array) => void
  readonly onEnd: () => void
}

function refuse(exchange: HttpExchange, status: number, code: number, message: string): void {
  const body = JSON.stringify({ error: message, code, message })
  answerText(exchange, status, body, { 'content-type': 'application/json' })
}
