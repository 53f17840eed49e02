import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js'
import { fromJSON, type MethodDefinition, type PackageDefinition } from '@grpc/proto-loader'
import { abortReason, unaryCall } from '@skerry/base'
import { RuntimeError, type RuntimeErrorCode } from './container-runtime.ts'
import type { EnumTable, MessageTable, ServiceTable } from './cri-schema-table.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface ServiceShape {
  /** The package with dots, e.g. runtime.v1. */
  package: string
  service: string
  methods: ServiceTable
  messages: MessageTable
  enums: EnumTable
}

/** The gRPC methods by name; the schema table defines their requests and answers. */
export type Methods = Readonly<Record<string, MethodDefinition<object, object>>>

/** Nanosecond times as doubles lose nothing that Kubernetes shows; everything else fits exactly. */
const conversion = Object.freeze({
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
})

interface NestedJson {
  nested: Record<string, object>
}

export function loadMethods(shape: ServiceShape): Methods {
  const nested: Record<string, object> = {}
  for (const [name, values] of Object.entries(shape.enums)) nested[name] = { values }
  for (const [name, fields] of Object.entries(shape.messages)) {
    nested[name] = { fields: Object.fromEntries(Object.entries(fields).map(fieldJson)) }
  }
  nested[shape.service] = {
    methods: Object.fromEntries(
      Object.entries(shape.methods).map(([name, [requestType, response]]) => {
        const responseStream = response.startsWith('stream ')
        const responseType = response.replace('stream ', '')
        return [name, { requestType, responseType, responseStream }]
      }),
    ),
  }
  const root = shape.package
    .split('.')
    .reduceRight<NestedJson>((inner, name) => ({ nested: { [name]: inner } }), { nested })
  const definition: PackageDefinition = fromJSON(root, conversion)
  // A service's entry in a package definition is its table of methods.
  return definition[`${shape.package}.${shape.service}`] as unknown as Methods
}

function fieldJson([name, text]: [string, string]): [string, object] {
  const [, repeated, type = '', id] = /^(repeated )?(.+) (\d+)$/.exec(text) ?? []
  const map = /^map<(\w+),(\w+)>$/.exec(type)
  if (map) return [name, { keyType: map[1], type: map[2], id: Number(id) }]
  return [name, { type, id: Number(id), ...(repeated ? { rule: 'repeated' } : {}) }]
}

const { runtimeMessageBytesMax } = kubeletBounds.grpcChannel

export interface CallOptions {
  /** The timeout; with 0, only the signal ends the call. */
  timeoutMs: number
  metadata?: Readonly<Record<string, string>>
}

/** One connection without TLS, e.g. to unix:/path; it reconnects when the server is back. */
export class GrpcChannel implements Disposable {
  readonly #client: Client

  constructor(address: string, { messageBytesMax = runtimeMessageBytesMax } = {}) {
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.min_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 1000,
      'grpc.max_receive_message_length': messageBytesMax,
    })
  }

  unary(
    method: MethodDefinition<object, object>,
    request: object,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<object> {
    const { timeoutMs } = options
    const metadata = toMetadata(options.metadata)
    return unaryCall(
      this.#client,
      { method, request, metadata, timeoutMs, toError: toRuntimeError },
      signal,
    )
  }

  /** Resolves when the server ends the stream; rejects when it breaks or the signal aborts. */
  serverStream(
    method: MethodDefinition<object, object>,
    request: object,
    options: CallOptions & { onMessage: (message: object) => void },
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortReason(signal))
      const call = this.#client.makeServerStreamRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        toMetadata(options.metadata),
      )
      const onAbort = (): void => call.cancel()
      signal.addEventListener('abort', onAbort, { once: true })
      call.on('data', options.onMessage)
      call.on('end', () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      })
      call.on('error', (error: ServiceError) => {
        signal.removeEventListener('abort', onAbort)
        reject(signal.aborted ? abortReason(signal) : toRuntimeError(error))
      })
    })
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }
}

type PluginCall = (
  method: string,
  request: object,
  timeoutMs: number,
  signal: AbortSignal,
) => Promise<object>

/** Returns a function that calls a plugin's method, and gives it up after the timeout. */
export function pluginCaller(channel: GrpcChannel, methods: Methods): PluginCall {
  return async (name, request, timeoutMs, signal) => {
    const method = methods[name]
    if (!method) throw new RangeError(`Cannot call plugin: there is no method ${name}`)
    return channel.unary(method, request, { timeoutMs }, signal)
  }
}

function toMetadata(entries: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value)
  return metadata
}

const codes: Readonly<Record<number, RuntimeErrorCode>> = Object.freeze({
  [status.INVALID_ARGUMENT]: 'InvalidArgument',
  [status.OUT_OF_RANGE]: 'OutOfRange',
  [status.NOT_FOUND]: 'NotFound',
  [status.ALREADY_EXISTS]: 'AlreadyExists',
  [status.DEADLINE_EXCEEDED]: 'DeadlineExceeded',
  [status.UNAVAILABLE]: 'Unavailable',
  [status.UNIMPLEMENTED]: 'Unimplemented',
})

const codeWords: Readonly<Record<number, string>> = Object.freeze(
  Object.fromEntries(
    Object.entries(status).map(([name, code]) => [
      code,
      name
        .toLowerCase()
        .split('_')
        .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
        .join(''),
    ]),
  ),
)

/** The message has the shape that Kubernetes' users know from `describe pod`. */
function toRuntimeError(error: ServiceError): RuntimeError {
  const code = codes[error.code] ?? 'Unknown'
  const message = `rpc error: code = ${codeWords[error.code] ?? 'Unknown'} desc = ${error.details}`
  return new RuntimeError(code, message, { cause: error })
}
