import type { Socket } from 'node:net'
import type { Clock } from '@skerry/base'
import type { Http2Stream, RequestFields, StreamHandler } from '@skerry/http2-server'
import { etcdServerBounds } from '../limits-table.ts'
import type { CallCounts } from './call-counts.ts'
import { callerOf } from './caller-of.ts'
import type { GrpcMethod, GrpcServices } from './grpc-call.ts'
import { Deadlines } from './deadlines.ts'
import { GrpcError } from './grpc-error.ts'
import { MessageFramer } from './message-framer.ts'
import { MessageSplitter, type ByteBudget } from './message-splitter.ts'
import { ServerCall, type CallDeps } from './server-call.ts'
import { StreamingRequest } from './streaming-request.ts'
import { UnaryRequest } from './unary-request.ts'

const { overheadBytes } = etcdServerBounds.grpcServer

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
  readonly onOther: (stream: Http2Stream, fields: RequestFields, socket: Socket) => StreamHandler
}

/** Answers HTTP/2 streams as calls. No peer's bytes make it throw. */
export class GrpcHandler {
  readonly #methods: ReadonlyMap<string, GrpcMethod>
  readonly #services: ReadonlySet<string>
  readonly #bytesMax: number
  readonly #partial: ByteBudget
  readonly #onOther: GrpcHandlerOptions['onOther']
  readonly #arriving: Deadlines<UnaryRequest>
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
    const late = new GrpcError('deadlineExceeded', 'the request did not arrive in time')
    this.#arriving = new Deadlines(clock, ({ call }) => call.fail(late))
    const passed = new GrpcError('deadlineExceeded', 'context deadline exceeded')
    const deadlines = new Deadlines<ServerCall>(clock, (call) => call.fail(passed))
    this.#callDeps = { deadlines, toGrpcError, unread, counts, framer: new MessageFramer() }
  }

  onStream(stream: Http2Stream, fields: RequestFields, socket: Socket): StreamHandler {
    const type = fields['content-type'] ?? ''
    if (fields[':method'] !== 'POST' || !grpcType.test(type)) {
      return this.#onOther(stream, fields, socket)
    }
    const call = new ServerCall(stream, this.#callDeps)
    try {
      const path = fields[':path'] ?? ''
      const method = this.#methodOf(path)
      call.countAs(path)
      refuseEncoding(fields['grpc-encoding'])
      call.limitTime(fields['grpc-timeout'])
      const caller = callerOf(fields, socket)
      const splitter = new MessageSplitter(this.#bytesMax, this.#partial)
      if (method.kind === 'stream')
        return new StreamingRequest(method, stream, { call, caller, splitter })
      return new UnaryRequest(method, { call, caller, splitter, arriving: this.#arriving })
    } catch (error) {
      call.fail(error)
      return new RefusedRequest(call)
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
}

const grpcType = /^application\/grpc($|[+;])/

/** The rest of a request that is refused already is of no use. */
class RefusedRequest implements StreamHandler {
  readonly #call: ServerCall

  constructor(call: ServerCall) {
    this.#call = call
  }

  onData(): void {}
  onEnd(): void {}

  onTaken(bytes: number): void {
    this.#call.onTaken(bytes)
  }

  onClose(): void {
    this.#call.onClose()
  }
}

/** The whole gRPC protocol allows compression; a server offers it by grpc-accept-encoding, and this one does not. */
function refuseEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity') return
  const text = `grpc: Decompressor is not installed for grpc-encoding "${encoding}"`
  throw new GrpcError('unimplemented', text)
}
