import { isIP } from 'node:net'
import { checkServerIdentity as checkName, type PeerCertificate } from 'node:tls'
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  status,
  type ChannelCredentials,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js'
import { grpcDeadline, unaryCall, unlessAborted, type Clock } from '@skerry/base'
import { StoreClosedError, StoreUnavailableError } from '../store-errors.ts'
import { loadEtcdMethods, type EtcdMethodName } from './etcd-schema-table.ts'
import { etcdCallDefaults, storeBounds } from '../limits-table.ts'

export interface EtcdTls {
  /** PEM. Only this authority is trusted when set; the system's otherwise. */
  readonly ca?: string
  /** PEM; both or none. */
  readonly cert?: string
  readonly key?: string
}

export interface EtcdEndpoints {
  /** http://host:port, https://host:port or unix:///path of members, of which any may answer. */
  readonly endpoints: readonly string[]
  readonly tls?: EtcdTls
}

interface Call {
  readonly method: EtcdMethodName
  readonly request: object
  readonly signal: AbortSignal
}

/** Reports that etcd refused: the request is wrong, or etcd cannot execute it now. `code` is gRPC's. */
export class EtcdError extends Error {
  override name = 'EtcdError'
  readonly code: number
  constructor(method: string, error: ServiceError) {
    super(`Cannot ask etcd: ${method} failed: ${error.details}`, { cause: error })
    this.code = error.code
  }
}

export const etcdCodes = Object.freeze({
  notFound: status.NOT_FOUND,
  /** A revision that is compacted, or in the future. */
  outOfRange: status.OUT_OF_RANGE,
  exhausted: status.RESOURCE_EXHAUSTED,
})

type EtcdStream = ClientDuplexStream<object, object>

const { elsewhereMs } = storeBounds.etcdChannel

/**
 * Connects to the members of one etcd. The one that answers is used until it stops answering. A connection alone proves
 * nothing, because a member that is cut off from the others takes requests as well: a member that has failed is used
 * again only when all others have failed after it.
 */
export class EtcdChannel implements Disposable {
  readonly #clients: readonly Client[]
  readonly #endpoints: readonly string[]
  readonly #clock: Clock
  readonly #methods = loadEtcdMethods()
  /** The members whose last call failed, or that did not connect, the oldest failure first. */
  readonly #doubtful = new Set<Client>()
  readonly #streams = new Map<EtcdStream, Client>()
  #current: Client | undefined
  #isClosed = false

  constructor({ endpoints, tls = {} }: EtcdEndpoints, clock: Clock) {
    if (endpoints.length === 0) throw new RangeError('Cannot use etcd: it has no endpoint')
    this.#endpoints = endpoints
    this.#clock = clock
    this.#clients = endpoints.map((endpoint) => clientFor(endpoint, tls))
  }

  /** Tries another member if one does not answer. Throws EtcdError or StoreUnavailableError. */
  async read<Answer>(method: EtcdMethodName, request: object, signal: AbortSignal) {
    const untilMs = this.#clock.monotonicMs() + etcdCallDefaults.findMs
    for (;;) {
      try {
        return await this.write<Answer>(method, request, signal)
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
        if (signal.aborted || this.#clock.monotonicMs() >= untilMs) throw error
      }
      await this.#clock.sleep(etcdCallDefaults.pauseMs, signal)
    }
  }

  /** Tries once. After StoreUnavailableError with `isSent` the call may have been executed or not. */
  async write<Answer>(
    method: EtcdMethodName,
    request: object,
    signal: AbortSignal,
  ): Promise<Answer> {
    const client = await this.#ready(signal)
    // The schema table decodes this; the caller names the message of its method's answer.
    return (await this.#once(client, { method, request, signal })) as Answer
  }

  /** Opens a stream in both directions, to a member that has a leader. */
  async stream(method: EtcdMethodName, signal: AbortSignal): Promise<EtcdStream> {
    const client = await this.#ready(signal)
    const { path, requestSerialize, responseDeserialize } = this.#methods[method]
    const metadata = new Metadata()
    // A member that is cut off from the others ends the stream, so that another one is tried.
    metadata.set('hasleader', 'true')
    const stream: EtcdStream = client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
      {},
    )
    this.#streams.set(stream, client)
    stream.once('close', () => this.#streams.delete(stream))
    return stream
  }

  /** Opens a stream of answers to one request. */
  async answers(
    method: EtcdMethodName,
    request: object,
    signal: AbortSignal,
  ): Promise<ClientReadableStream<object>> {
    const client = await this.#ready(signal)
    const { path, requestSerialize, responseDeserialize } = this.#methods[method]
    return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request)
  }

  /** Call this when a stream broke or is silent: it ends, and another member is tried next. */
  turnAwayFrom(stream: EtcdStream): void {
    const client = this.#streams.get(stream)
    if (client) this.#doubt(client)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const client of this.#clients) client.close()
  }

  async #once(client: Client, { method: name, request, signal }: Call): Promise<object> {
    const call = {
      method: this.#methods[name],
      request,
      metadata: new Metadata(),
      timeoutMs: etcdCallDefaults.callMs,
      clock: this.#clock,
      toError: (error: ServiceError) => this.#toError(name, error, client),
    }
    const answer = await unaryCall(client, call, signal)
    this.#doubtful.delete(client)
    return answer
  }

  #toError(method: string, error: ServiceError, client: Client): Error {
    if (this.#isClosed) return new StoreClosedError()
    if (!silentCodes.has(error.code)) return new EtcdError(method, error)
    this.#doubt(client)
    return new StoreUnavailableError(`Cannot reach etcd: ${method} failed: ${error.details}`, {
      cause: error,
      isSent: true,
    })
  }

  /** Several calls that fail at once at one member are one failure. Its streams are as silent, and end. */
  #doubt(client: Client): void {
    if (this.#current === client) this.#current = undefined
    this.#doubtful.delete(client)
    this.#doubtful.add(client)
    for (const [stream, at] of this.#streams) if (at === client) stream.cancel()
  }

  async #ready(signal: AbortSignal): Promise<Client> {
    if (this.#isClosed) throw new StoreClosedError()
    signal.throwIfAborted()
    if (this.#current && isReady(this.#current)) return this.#current
    const found = await unlessAborted(this.#find(), signal)
    if (this.#isClosed) throw new StoreClosedError()
    this.#current = found
    return found
  }

  async #find(): Promise<Client> {
    const trusted = this.#clients.filter((client) => !this.#doubtful.has(client))
    const connected = trusted.find(isReady) ?? (await this.#anyOf(trusted, elsewhereMs))
    if (connected) return connected
    for (const client of trusted) this.#doubtful.add(client)
    const found = [...this.#doubtful].find(isReady)
    const last = found ?? (await this.#anyOf(this.#clients, etcdCallDefaults.findMs))
    if (last) return last
    const text = `Cannot reach etcd: none of ${this.#endpoints.join(', ')} answers`
    throw this.#isClosed
      ? new StoreClosedError()
      : new StoreUnavailableError(text, { isSent: false })
  }

  /** Resolves with the first that has a connection, or with undefined if none gets one in time. */
  async #anyOf(clients: readonly Client[], ms: number): Promise<Client | undefined> {
    const deadline = grpcDeadline(ms)
    return Promise.any(clients.map((client) => waitForReady(client, deadline))).catch(
      () => undefined,
    )
  }
}

/** These are not etcd's verdict on the request: another member may execute it, and this one may have. */
const silentCodes: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.INTERNAL,
  status.CANCELLED,
  status.UNKNOWN,
])

function isReady(client: Client): boolean {
  return client.getChannel().getConnectivityState(true) === connectivityState.READY
}

function waitForReady(client: Client, deadline: number): Promise<Client> {
  return new Promise((resolve, reject) => {
    client.waitForReady(deadline, (error) => (error ? reject(error) : resolve(client)))
  })
}

/** Makes a client of one member, which connects when it is first used. */
export function clientFor(endpoint: string, tls: EtcdTls): Client {
  const { protocol, host, hostname, pathname } = new URL(endpoint)
  const isSecured = protocol === 'https:'
  const address = isIP(hostname.replace(/^\[|\]$/g, '')) ? hostname : undefined
  const security = isSecured ? secured(tls, address) : credentials.createInsecure()
  return new Client(protocol === 'unix:' ? `unix:${pathname}` : host, security, {
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.min_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.max_receive_message_length': etcdCallDefaults.answerBytesMax,
    'grpc.max_send_message_length': etcdCallDefaults.answerBytesMax,
    'grpc.use_local_subchannel_pool': 1,
    ...(isSecured && address ? { 'grpc.ssl_target_name_override': unnamed } : {}),
  })
}

/** The name sent to a server without one: an address is not allowed there (RFC 6066, section 3). */
const unnamed = 'etcd.invalid'

function secured({ ca, cert, key }: EtcdTls, address: string | undefined): ChannelCredentials {
  const bytes = (pem: string | undefined): Buffer | null => (pem ? Buffer.from(pem) : null)
  const checkServerIdentity = (host: string, peer: PeerCertificate): Error | undefined =>
    checkName(address?.replace(/^\[|\]$/g, '') ?? host, peer)
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert), { checkServerIdentity })
}
