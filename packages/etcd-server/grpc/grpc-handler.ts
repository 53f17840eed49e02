import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { asError, type Clock, type Logger } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import { decodeMessage } from '../wire/message-codec.ts'
import type { ErasedStream, ErasedUnary, GrpcMethod, GrpcServices } from './grpc-call.ts'
import { GrpcError } from './grpc-error.ts'
import { MessageSplitter, type ByteBudget } from './message-splitter.ts'
import { RequestQueue } from './request-queue.ts'
import { ServerCall, type CallDeps } from './server-call.ts'

const { overheadBytes, partialBytesMax, unreadBytesMax, arriveMs, waitingMessagesMax } =
  etcdServerBounds.grpcServer

export interface GrpcHandlerOptions {
  readonly services: GrpcServices
  readonly requestBytesMax: number
  /** Puts an error of a handler into a status; undefined for one that it does not know. */
  readonly toGrpcError: (error: unknown) => GrpcError | undefined
}

/** Answers HTTP/2 streams as calls. No peer's bytes make it throw. */
export class GrpcHandler {
  readonly #methods: ReadonlyMap<string, GrpcMethod>
  readonly #services: ReadonlySet<string>
  readonly #bytesMax: number
  readonly #partial: ByteBudget = { used: 0, max: partialBytesMax }
  readonly #log: Logger
  readonly #clock: Clock
  readonly #callDeps: CallDeps

  constructor(options: GrpcHandlerOptions, { clock, log }: { clock: Clock; log: Logger }) {
    const { services, requestBytesMax } = options
    this.#services = new Set(Object.keys(services))
    this.#methods = new Map(
      Object.entries(services).flatMap(([service, methods]) =>
        Object.entries(methods).map(([name, method]) => [`/${service}/${name}`, method] as const),
      ),
    )
    this.#bytesMax = requestBytesMax + overheadBytes
    this.#log = log
    this.#clock = clock
    const toGrpcError = (error: unknown): GrpcError =>
      error instanceof GrpcError ? error : (options.toGrpcError(error) ?? this.#unknown(error))
    this.#callDeps = { clock, toGrpcError, unread: { used: 0, max: unreadBytesMax } }
  }

  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // A peer may cut its stream at any moment; the call ends with its `close`.
    stream.on('error', ignored)
    const type = String(headers['content-type'] ?? '')
    if (headers[':method'] !== 'POST' || !/^application\/grpc($|[+;])/.test(type)) {
      const status = headers[':method'] === 'POST' ? 415 : 405
      stream.respond({ ':status': status }, { endStream: true })
      return
    }
    const call = new ServerCall(stream, this.#callDeps)
    try {
      const method = this.#methodOf(String(headers[':path'] ?? ''))
      refuseEncoding(headers)
      call.limitTime(headers)
      if (method.kind === 'unary') this.#unary(method, stream, call)
      else this.#stream(method, stream, call)
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

  #unary(method: ErasedUnary, stream: ServerHttp2Stream, call: ServerCall): void {
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
        this.#answer(method, request, call)
      })
    })
  }

  #answer(method: ErasedUnary, bytes: Buffer, call: ServerCall): void {
    const request = decodeMessage(method.request, bytes)
    const context = {
      requestBytes: bytes.length,
      get signal() {
        return call.signal
      },
    }
    // The codec made this request from the message that the handler names.
    const answer = method.handle(request as never, context)
    if (!(answer instanceof Promise)) return call.answer(method.answer, answer)
    answer.then(
      (settled) => guarded(call, () => call.answer(method.answer, settled)),
      (error: unknown) => call.fail(error),
    )
  }

  #stream(method: ErasedStream, stream: ServerHttp2Stream, call: ServerCall): void {
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

  #unknown(error: unknown): GrpcError {
    this.#log.error('Call failed', { error: asError(error) })
    return new GrpcError('internal', 'skerry: internal error; the log of the server has the cause')
  }
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
