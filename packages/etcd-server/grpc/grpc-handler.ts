import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Clock } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import { decodeMessage } from '../wire/message-codec.ts'
import type { CallCounts } from './call-counts.ts'
import { callerOf } from './caller-of.ts'
import {
  LargeAnswer,
  type Caller,
  type ErasedStream,
  type ErasedUnary,
  type GrpcMethod,
  type GrpcServices,
} from './grpc-call.ts'
import { GrpcError } from './grpc-error.ts'
import { MessageSplitter, type ByteBudget } from './message-splitter.ts'
import { RequestQueue } from './request-queue.ts'
import { ServerCall, type CallDeps } from './server-call.ts'

const { overheadBytes, arriveMs, waitingMessagesMax } = etcdServerBounds.grpcServer

export interface GrpcHandlerOptions {
  readonly services: GrpcServices
  readonly requestBytesMax: number
  /** Counts bytes of requests that have arrived in part, and answers that their readers have not taken. */
  readonly partial: ByteBudget
  readonly unread: ByteBudget
  readonly counts: CallCounts
  /** Puts an error of a handler into a status. */
  readonly toGrpcError: (error: unknown) => GrpcError
  /** Answers streams that are not gRPC. */
  readonly onOther: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void
}

/** Answers HTTP/2 streams as calls. No peer's bytes make it throw. */
export class GrpcHandler {
  readonly #methods: ReadonlyMap<string, GrpcMethod>
  readonly #services: ReadonlySet<string>
  readonly #bytesMax: number
  readonly #partial: ByteBudget
  readonly #onOther: GrpcHandlerOptions['onOther']
  readonly #clock: Clock
  readonly #callDeps: CallDeps

  constructor(options: GrpcHandlerOptions, { clock }: { clock: Clock }) {
    const { services, requestBytesMax, partial, unread, counts, toGrpcError } = options
    this.#services = new Set(Object.keys(services))
    this.#methods = new Map(
      Object.entries(services).flatMap(([service, methods]) =>
        Object.entries(methods).map(([name, method]) => [`/${service}/${name}`, method] as const),
      ),
    )
    this.#bytesMax = requestBytesMax + overheadBytes
    this.#partial = partial
    this.#onOther = options.onOther
    this.#clock = clock
    this.#callDeps = { clock, toGrpcError, unread, counts }
  }

  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // A peer may cut its stream at any moment; the call ends with its `close`.
    stream.on('error', ignored)
    const type = String(headers['content-type'] ?? '')
    if (headers[':method'] !== 'POST' || !/^application\/grpc($|[+;])/.test(type)) {
      return this.#onOther(stream, headers)
    }
    const call = new ServerCall(stream, this.#callDeps)
    try {
      const path = String(headers[':path'] ?? '')
      const method = this.#methodOf(path)
      call.countAs(path)
      refuseEncoding(headers)
      call.limitTime(headers)
      const caller = callerOf(headers, () => stream.session?.socket)
      if (method.kind === 'unary') this.#unary(method, stream, { call, caller })
      else this.#stream(method, stream, { call, caller })
    } catch (error) {
      call.fail(error)
    }
  }

  #methodOf(path: string): GrpcMethod {
    const method = this.#methods.get(path)
    if (method) return method
    const [, service = '', name = ''] = path.split('/')
    const text = this.#services.has(service)
      ? `unknown method ${name} for service ${service}`
      : `unknown service ${service}`
    throw new GrpcError('unimplemented', text)
  }

  #unary(method: ErasedUnary, stream: ServerHttp2Stream, { call, caller }: Calling): void {
    const splitter = new MessageSplitter(this.#bytesMax, this.#partial)
    let request: Buffer | undefined
    const late = new GrpcError('deadlineExceeded', 'the request did not arrive in time')
    const timer = this.#clock.setTimer(arriveMs, () => call.fail(late))
    stream.once('close', () => {
      timer[Symbol.dispose]()
      splitter.clear()
    })
    stream.on('data', (chunk: Buffer) => {
      if (call.isEnded) return
      guarded(call, () => {
        for (const message of splitter.push(chunk)) {
          if (request) throw new GrpcError('internal', 'one request is expected, several came')
          request = message
        }
      })
    })
    stream.once('end', () => {
      timer[Symbol.dispose]()
      if (call.isEnded) return
      guarded(call, () => {
        if (request === undefined || !splitter.isBetweenMessages) throw incomplete()
        this.#answer(method, request, { call, caller })
      })
    })
  }

  #answer(method: ErasedUnary, bytes: Buffer, { call, caller }: Calling): void {
    const request = decodeMessage(method.request, bytes)
    const context = {
      requestBytes: bytes.length,
      caller,
      get signal() {
        return call.signal
      },
    }
    // The codec made this request from the message that the handler names.
    const answer = method.handle(request as never, context)
    const send = (settled: object): void => {
      if (!(settled instanceof LargeAnswer)) return call.answer(method.answer, settled)
      call.answerInParts(method.answer, settled.parts).catch((error: unknown) => call.fail(error))
    }
    if (!(answer instanceof Promise)) return send(answer)
    answer.then(
      (settled) => guarded(call, () => send(settled)),
      (error: unknown) => call.fail(error),
    )
  }

  #stream(method: ErasedStream, stream: ServerHttp2Stream, { call, caller }: Calling): void {
    const splitter = new MessageSplitter(this.#bytesMax, this.#partial)
    const pause = (isPaused: boolean): void => void (isPaused ? stream.pause() : stream.resume())
    const requests = new RequestQueue<unknown>(waitingMessagesMax, pause)
    stream.once('close', () => {
      splitter.clear()
      requests.fail(new GrpcError('canceled', 'context canceled'))
    })
    stream.on('data', (chunk: Buffer) => {
      if (call.isEnded) return
      guarded(call, () => {
        for (const bytes of splitter.push(chunk)) {
          requests.push(decodeMessage(method.request, bytes))
        }
      })
    })
    stream.once('end', () => {
      if (splitter.isBetweenMessages) requests.end()
      else call.fail(incomplete())
    })
    const answers = {
      caller,
      signal: call.signal,
      send: (answer: object) => call.send(method.answer, answer),
      get isFull() {
        return call.isFull
      },
      whenDrained: () => call.whenDrained(),
    }
    // The codec made these requests from the message that the handler names.
    method.handle(requests as AsyncIterable<never>, answers).then(
      () => call.end(),
      (error: unknown) => call.fail(error),
    )
  }
}

interface Calling {
  readonly call: ServerCall
  readonly caller: Caller
}

/** The whole gRPC protocol allows compression; a server offers it by grpc-accept-encoding, and this one does not. */
function refuseEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers['grpc-encoding']
  if (encoding === undefined || encoding === 'identity') return
  const text = `grpc: Decompressor is not installed for grpc-encoding "${String(encoding)}"`
  throw new GrpcError('unimplemented', text)
}

function guarded(call: ServerCall, work: () => void): void {
  try {
    work()
  } catch (error) {
    call.fail(error)
  }
}

function incomplete(): GrpcError {
  return new GrpcError('internal', 'the request ended before its message did')
}

function ignored(): void {}
