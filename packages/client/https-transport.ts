import * as http from 'node:http'
import * as https from 'node:https'
import { checkServerIdentity, TLSSocket, type PeerCertificate } from 'node:tls'
import {
  abortReason,
  answerTo,
  linkedSignal,
  PeerAnswerError,
  peerHeadOf,
  type Clock,
  type Connect,
  type HeaderRecord,
  type PeerAsked,
  type PeerHead,
} from '@skerry/base'
import { clientLimits } from './limits-table.ts'
import { connectingAgent, type ConnectionChecks } from './connecting-agent.ts'
import type { ClientCredentials, CredentialSource } from './credentials.ts'
import { limitConnectTime } from './limit-connect-time.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

export interface HttpsTransportConfig {
  /** The base URL. Its path, such as /clusters/a, is put before every request's path. http: is plain text. */
  server: string
  /** PEM. If omitted, the certificates that Node trusts. */
  certificateAuthority?: string
  /** Replaces the URL's host in SNI and in the check of the server's certificate. */
  serverName?: string
  isTlsVerifySkipped?: boolean
  /** An HTTP proxy that supports CONNECT. */
  proxyUrl?: string
  /** Opens the connections. If omitted, they use TCP or the proxy. */
  connect?: Connect
  /** Called before each request, so that rotated certificates and tokens take effect. */
  credentials?: CredentialSource
  /**
   * Added to each request, e.g. impersonate-user. Names are in lower case; several values become
   * several lines.
   */
  headers?: Readonly<Record<string, string | readonly string[]>>
  answerHeadTimeoutMs?: number
  /** Called with the certificate of each new connection that is trusted and was not opened by `connect`. */
  onServerCertificate?: (certificate: PeerCertificate) => void
}

export interface HttpsTransportDeps {
  /** Bounds the time for a connection and for an answer. */
  readonly clock: Pick<Clock, 'setTimer'>
}

export interface HttpsTransport extends Transport, Disposable {}

/**
 * Creates a transport over HTTP/1.1 with kept-alive sockets, one for each request under way. Each
 * watch owns a socket, so a slow one never fills a window that others share, and TCP keep-alive
 * detects dead peers in about 25 s. Dispose it to close all sockets.
 */
export function createHttpsTransport(
  config: HttpsTransportConfig,
  { clock }: HttpsTransportDeps,
): HttpsTransport {
  const base = new URL(config.server)
  const stop = new AbortController()
  const agents = new AgentOfCertificate({ config, base, clock }, stop.signal)
  const target: Target = { config, base, clock, agents }
  return {
    async send(request, signal) {
      const credentials = (await config.credentials?.(signal)) ?? {}
      try {
        const answer = await sendOnce(target, { request, credentials }, signal)
        if (answer.status === 401) config.credentials?.onRefused?.(credentials)
        return answer
      } catch (error) {
        // The server closed an idle socket just as it was taken. Repeating a read is safe, a write
        // is not.
        const { method, isRepeatable = method === 'GET' } = request
        if (!(error instanceof StaleSocketError) || !isRepeatable) throw error
        return sendOnce(target, { request, credentials }, signal)
      }
    },
    [Symbol.dispose]() {
      stop.abort(new Error('The transport is closed'))
      agents.destroy()
    },
  }
}

/**
 * Reports that the server closed the connection before TLS was established, so no part of the
 * request has reached it.
 */
export class NotConnectedError extends Error {
  override name = 'NotConnectedError'
}

/** Returns true if no part of the request can have reached the server: there was no connection. */
export function isUnsent(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true
  return error instanceof Error && 'code' in error && unconnected.has(String(error.code))
}

const unconnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

class StaleSocketError extends Error {
  override name = 'StaleSocketError'
}

interface Server extends HttpsTransportDeps {
  readonly config: HttpsTransportConfig
  readonly base: URL
}

interface Target extends Server {
  readonly agents: AgentOfCertificate
}

interface Outgoing {
  request: TransportRequest
  credentials: ClientCredentials
}

/** Sockets belong to the certificate they were opened with. A new certificate gets new sockets. */
class AgentOfCertificate {
  #agent: http.Agent | undefined
  #certificate: string | undefined
  readonly #server: Server
  readonly #signal: AbortSignal

  constructor(server: Server, signal: AbortSignal) {
    this.#server = server
    this.#signal = signal
  }

  for(credentials: ClientCredentials): http.Agent {
    if (this.#agent && this.#certificate === credentials.certificate) return this.#agent
    closeFreeSockets(this.#agent)
    this.#certificate = credentials.certificate
    this.#agent = createAgent({ ...this.#server, credentials }, this.#signal)
    return this.#agent
  }

  destroy(): void {
    this.#agent?.destroy()
  }
}

/** Requests under way on the old certificate end by themselves, so only idle sockets are closed. */
function closeFreeSockets(agent: http.Agent | undefined): void {
  if (!agent) return
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy()
  }
}

interface AgentTarget extends Server {
  readonly credentials: ClientCredentials
}

function createAgent(
  { config, base, clock, credentials }: AgentTarget,
  signal: AbortSignal,
): http.Agent {
  const sockets = {
    keepAlive: true,
    keepAliveMsecs: clientLimits.keepAliveProbeMs,
    maxSockets: clientLimits.socketsMax,
    maxFreeSockets: clientLimits.freeSocketsMax,
    timeout: clientLimits.idleSocketMs,
  }
  const { connect, proxyUrl } = config
  if (connect) {
    const tls = checksOf(config, credentials)
    return connectingAgent({ connect, base, sockets, tls, clock }, signal)
  }
  const shared = {
    ...sockets,
    ...(proxyUrl ? { proxyEnv: { HTTPS_PROXY: proxyUrl, HTTP_PROXY: proxyUrl } } : {}),
  }
  if (base.protocol === 'http:') return new http.Agent(shared)
  return new https.Agent({ ...shared, ...tlsOptions(config, credentials) })
}

function checksOf(
  { certificateAuthority: ca, serverName, isTlsVerifySkipped }: HttpsTransportConfig,
  { certificate: cert, key }: ClientCredentials,
): ConnectionChecks {
  return {
    ...(ca ? { ca } : {}),
    ...(serverName ? { serverName } : {}),
    ...(isTlsVerifySkipped ? { isUnchecked: true } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
  }
}

/**
 * Returns the TLS options of a connection to the server, for callers that open their own sockets
 * (tunnels).
 */
export function tlsOptions(
  config: HttpsTransportConfig,
  credentials: ClientCredentials,
): https.AgentOptions {
  const { onServerCertificate } = config
  return {
    ...(config.certificateAuthority ? { ca: config.certificateAuthority } : {}),
    ...(config.serverName ? { servername: config.serverName } : {}),
    ...(config.isTlsVerifySkipped ? { rejectUnauthorized: false } : {}),
    ...(credentials.certificate ? { cert: credentials.certificate } : {}),
    ...(credentials.key ? { key: credentials.key } : {}),
    ...(onServerCertificate
      ? {
          checkServerIdentity(host: string, certificate: PeerCertificate) {
            onServerCertificate(certificate)
            return checkServerIdentity(host, certificate)
          },
        }
      : {}),
  }
}

function headersOf(target: Target, outgoing: Outgoing): http.OutgoingHttpHeaders {
  const { request, credentials } = outgoing
  const headers: http.OutgoingHttpHeaders = { ...request.headers }
  for (const [name, value] of Object.entries(target.config.headers ?? {})) {
    headers[name] ??= typeof value === 'string' ? value : [...value]
  }
  if (credentials.bearerToken && !headers['authorization']) {
    headers['authorization'] = `Bearer ${credentials.bearerToken}`
  }
  if (request.body) headers['content-length'] = String(request.body.byteLength)
  return headers
}

async function sendOnce(
  target: Target,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<TransportResponse> {
  signal.throwIfAborted()
  const { base, config, clock, agents } = target
  const { method, path, body } = outgoing.request
  const scope = linkedSignal(signal)
  const { connectTimeoutMs: connectMs } = clientLimits
  const headTimeoutMs = config.answerHeadTimeoutMs ?? clientLimits.answerHeadTimeoutMs
  const request = (base.protocol === 'http:' ? http : https).request({
    method,
    host: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port || (base.protocol === 'http:' ? 80 : 443),
    path: `${base.pathname.replace(/\/$/, '')}${path}`,
    headers: headersOf(target, outgoing),
    agent: agents.for(outgoing.credentials),
    signal: scope.signal,
  })
  const name = `${method} ${base.host}${path.split('?', 1)[0]}`
  using _headTimer = clock.setTimer(headTimeoutMs, () => {
    scope.abort(new Error(`Cannot ${name}: no answer in ${headTimeoutMs} ms`))
  })
  limitConnectTime(request, { connectMs, clock }, () => {
    scope.abort(new Error(`Cannot ${name}: no connection in ${connectMs} ms`))
  })
  const answered = answerTo(request, base.host)
  request.end(body)
  try {
    const answer = await answered
    const { status, headers } = checkedHead(answer, { peer: base.host, method })
    return { status, headers: flat(headers), body: bodyOf(answer, scope) }
  } catch (error) {
    scope[Symbol.dispose]()
    if (scope.signal.aborted) throw abortReason(scope.signal)
    if (request.reusedSocket && !(error instanceof PeerAnswerError)) {
      throw new StaleSocketError(`Cannot ${name}: ${String(error)}`, { cause: error })
    }
    if (isClosedEarly(request, error)) {
      throw new NotConnectedError(`Cannot ${name}: the server closed the connection at once`, {
        cause: error,
      })
    }
    throw error
  }
}

function isClosedEarly({ socket }: http.ClientRequest, error: unknown): boolean {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
  // Node has this field, though its types do not. It stays true if TLS was never established.
  return isClosed && socket instanceof TLSSocket && Reflect.get(socket, 'secureConnecting') === true
}

function checkedHead(answer: http.IncomingMessage, asked: PeerAsked): PeerHead {
  try {
    return peerHeadOf(answer, asked)
  } catch (error) {
    answer.destroy()
    throw error
  }
}

function flat(headers: HeaderRecord): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    out[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return out
}

async function* bodyOf(
  answer: http.IncomingMessage,
  scope: ReturnType<typeof linkedSignal>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* answer
  } catch (error) {
    if (scope.signal.aborted) throw abortReason(scope.signal)
    throw error
  } finally {
    scope[Symbol.dispose]()
  }
}
