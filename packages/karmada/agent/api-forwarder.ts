import * as http from 'node:http'
import * as https from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { StatusError } from '@skerry/api'
import { abortReason, type Logger } from '@skerry/base'
import {
  connectingAgent,
  tlsOptions,
  type ClientCredentials,
  type HttpsTransportConfig,
} from '@skerry/client'
import type {
  TunnelHandler,
  TunnelHeaders,
  TunnelRequest,
  TunnelResponse,
  TunnelUpgraded,
} from '@skerry/tunnel'
import {
  impersonationRefusal,
  type ImpersonationPolicy,
} from '../registration/impersonation-policy.ts'
import type { AgentRefusal } from '../state/agent-metrics.ts'
import { isBoundedInTime, limitAnswerTime } from './answer-limit.ts'
import { statusAnswer } from './status-answer.ts'

export interface ApiForwarderOptions {
  /** The local API server, and who the agent is to it. */
  readonly api: HttpsTransportConfig
  /** As whom it acts; absent: as everybody whom the hub names. */
  readonly policy?: ImpersonationPolicy
  /** Who it is, in words to those whom the API server does not answer; absent: the cluster's agent. */
  readonly asker?: string
  /** The agent answered in place of the API server. */
  readonly onRefused?: (reason: AgentRefusal) => void
  readonly limits?: Partial<ApiForwarderLimits>
}

export interface ApiForwarderLimits {
  readonly connectMs: number
  /** For the answer to begin, where API servers bound it themselves; a little more than they do. */
  readonly answerMs: number
  readonly socketsMax: number
  readonly idleSocketsMax: number
  readonly idleSocketMs: number
}

export const apiForwarderDefaults: Readonly<ApiForwarderLimits> = Object.freeze({
  connectMs: 10_000,
  answerMs: 65_000,
  socketsMax: 1_000,
  idleSocketsMax: 256,
  idleSocketMs: 55_000,
})

export interface ApiForwarder extends TunnelHandler, Disposable {}

/**
 * Answers what comes through the tunnel by asking the local API server, as the user that the hub
 * names. The agent's own rights serve nobody: a request that impersonates no one is refused.
 */
export function createApiForwarder(options: ApiForwarderOptions, log: Logger): ApiForwarder {
  const { api, policy = {}, asker = 'its agent' } = options
  const stop = new AbortController()
  const server: Server = {
    api,
    base: new URL(api.server),
    limits: { ...apiForwarderDefaults, ...options.limits },
    signal: stop.signal,
    sockets: undefined,
  }
  const answering = async <Answer extends TunnelUpgraded>(
    request: TunnelRequest,
    signal: AbortSignal,
    ask: () => Promise<Answer>,
  ): Promise<Answer | TunnelResponse> => {
    const auditId = auditIdOf(request)
    try {
      const why = impersonationRefusal(policy, request.headers)
      if (why !== undefined) throw new OwnAnswer('policy', forbidden(why))
      const answer = await ask()
      log.debug('Request answered', { auditId, method: request.method, status: answer.status })
      return answer
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      const { reason, status } = ownAnswerTo(error)
      options.onRefused?.(reason)
      if (reason === 'policy') log.debug('Request refused', { auditId, error: status })
      else log.info('Local API server did not answer', { auditId, error: status })
      return statusAnswer(status, auditId)
    }
  }
  return {
    onRequest: (request, signal) =>
      answering(request, signal, async () => {
        const outgoing = await start(server, { request, isUpgrade: false }, signal)
        return toAnswer(await answerOf(outgoing, request), asker)
      }),
    onUpgrade: (request, signal) =>
      answering(request, signal, async () => {
        const outgoing = await start(server, { request, isUpgrade: true }, signal)
        return upgraded(outgoing, asker)
      }),
    [Symbol.dispose]() {
      stop.abort(new Error('The way to the cluster is closed'))
      server.sockets?.agent.destroy()
    },
  }
}

/** The name by which the hub, its audit log and the API server know the request. */
function auditIdOf({ headers }: TunnelRequest): string {
  const { 'audit-id': auditId } = headers
  return typeof auditId === 'string' ? auditId : ''
}

/** What the agent itself says, in place of its API server. */
class OwnAnswer extends Error {
  override name = 'OwnAnswer'
  readonly reason: AgentRefusal
  readonly status: StatusError
  constructor(reason: AgentRefusal, status: StatusError) {
    super(status.message)
    this.reason = reason
    this.status = status
  }
}

function ownAnswerTo(error: unknown): Pick<OwnAnswer, 'reason' | 'status'> {
  if (error instanceof OwnAnswer) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  if (cause instanceof StatusError) return { reason: 'unreachable', status: cause }
  const text = `Cannot reach the cluster's API server: ${cause.message}`
  return {
    reason: 'unreachable',
    status: new StatusError('ServiceUnavailable', text, { cause }),
  }
}

function forbidden(why: string): StatusError {
  return new StatusError('Forbidden', `Cannot pass request: ${why}`)
}

interface Server {
  readonly api: HttpsTransportConfig
  readonly base: URL
  readonly limits: ApiForwarderLimits
  /** Aborts when it is disposed. */
  readonly signal: AbortSignal
  /** Kept open for the certificate that they were opened with. */
  sockets: { readonly agent: http.Agent; readonly certificate: string | undefined } | undefined
}

interface Outgoing {
  readonly request: TunnelRequest
  readonly isUpgrade: boolean
}

async function start(
  server: Server,
  { request, isUpgrade }: Outgoing,
  signal: AbortSignal,
): Promise<http.ClientRequest> {
  const { base, api } = server
  const credentials = (await api.credentials?.(signal)) ?? {}
  const options: https.RequestOptions = {
    method: request.method,
    host: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port || (base.protocol === 'http:' ? 80 : 443),
    path: `${base.pathname.replace(/\/$/, '')}${request.path}`,
    headers: ownHeaders(request.headers, credentials, base),
  }
  signal.throwIfAborted()
  const isOwnSocket = isUpgrade && api.connect === undefined
  const outgoing = isOwnSocket
    ? http.request({ ...options, createConnection: () => openSocket(server, credentials) })
    : (base.protocol === 'http:' ? http : https).request({
        ...options,
        agent: agentFor(server, credentials),
      })
  endWith(outgoing, signal)
  limitConnectTime(outgoing, server.limits.connectMs)
  if (!isUpgrade && isBoundedInTime(request.path)) {
    limitAnswerTime(outgoing, server.limits.answerMs)
  }
  return outgoing
}

/** As the request's own option for a signal, which takes three times as much of each request. */
function endWith(outgoing: http.ClientRequest, signal: AbortSignal): void {
  const onAbort = (): void => void outgoing.destroy(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  outgoing.once('close', () => signal.removeEventListener('abort', onAbort))
}

/** What the hub sent, without what only the agent itself may say to its API server. */
function ownHeaders(
  headers: TunnelHeaders,
  { bearerToken }: ClientCredentials,
  base: URL,
): http.OutgoingHttpHeaders {
  const out: http.OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'authorization' || /^x[-_]remote[-_]/.test(name)) continue
    out[name] = typeof value === 'string' ? value : [...value]
  }
  out['host'] = base.host
  if (bearerToken) out['authorization'] = `Bearer ${bearerToken}`
  return out
}

function agentFor(server: Server, credentials: ClientCredentials): http.Agent {
  const { certificate } = credentials
  if (server.sockets && server.sockets.certificate === certificate) return server.sockets.agent
  const { base, limits } = server
  const shared: https.AgentOptions = {
    keepAlive: true,
    maxSockets: limits.socketsMax,
    maxFreeSockets: limits.idleSocketsMax,
    timeout: limits.idleSocketMs,
  }
  const agent = madeAgent(server, credentials, shared)
  // All its sockets are alike: the name that it would make of all options, three times a request, is not needed.
  agent.getName = () => base.host
  server.sockets = { agent, certificate }
  return agent
}

function madeAgent(
  { api, base, signal }: Server,
  credentials: ClientCredentials,
  sockets: https.AgentOptions,
): http.Agent {
  const { connect, certificateAuthority: ca, serverName, isTlsVerifySkipped } = api
  if (connect) {
    const { certificate: cert, key } = credentials
    const tls = {
      ...(ca ? { ca } : {}),
      ...(serverName ? { serverName } : {}),
      ...(isTlsVerifySkipped ? { isUnchecked: true } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
    }
    return connectingAgent({ connect, base, sockets, tls }, signal)
  }
  if (base.protocol === 'http:') return new http.Agent(sockets)
  return new https.Agent({ ...sockets, ...sharedTls(api, credentials) })
}

/** Certificates are parsed once, not for each connection. */
function sharedTls(
  api: HttpsTransportConfig,
  credentials: ClientCredentials,
): https.AgentOptions & { secureContext: SecureContext } {
  const { ca, cert, key, ...own } = tlsOptions(api, credentials)
  const context = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
  return { ...own, secureContext: createSecureContext(context) }
}

/** A connection of its own for each session, which lets each side end its half first. */
function openSocket({ base, api }: Server, credentials: ClientCredentials): Socket {
  const host = base.hostname.replace(/^\[|\]$/g, '')
  const isPlain = base.protocol === 'http:'
  const port = Number(base.port) || (isPlain ? 80 : 443)
  const tcp = connectTcp({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true })
  if (isPlain) return tcp
  const isAddress = /^[\d.]+$|:/.test(host)
  const secured = connectTls({
    socket: tcp,
    host,
    ...(isAddress ? {} : { servername: host }),
    ...tlsOptions(api, credentials),
    ALPNProtocols: ['http/1.1'],
  })
  // An error of the inner socket reaches whoever uses the outer one.
  tcp.on('error', (error) => secured.destroy(error))
  return secured
}

function limitConnectTime(outgoing: http.ClientRequest, connectMs: number): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return
    const late = (): void => {
      outgoing.destroy(new Error(`no connection in ${connectMs} ms`))
    }
    const timer = setTimeout(late, connectMs)
    socket.once('connect', () => clearTimeout(timer))
    socket.once('close', () => clearTimeout(timer))
  })
}

async function answerOf(
  outgoing: http.ClientRequest,
  { body }: TunnelRequest,
): Promise<http.IncomingMessage> {
  const head = new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
  })
  if (body === undefined) outgoing.end()
  else if (body instanceof Uint8Array) outgoing.end(body)
  else {
    // The server may answer before it has read all; then the rest does not matter.
    pipeline(body, outgoing).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  }
  return head
}

function toAnswer(answer: http.IncomingMessage, asker: string): TunnelResponse {
  const status = answer.statusCode ?? 502
  if (status === 401) {
    answer.destroy()
    const text = `Cannot pass request: the cluster refuses ${asker}`
    throw new OwnAnswer('unauthorized', new StatusError('ServiceUnavailable', text))
  }
  return { status, headers: headersOf(answer), body: answer }
}

function headersOf({ rawHeaders }: http.IncomingMessage): TunnelHeaders {
  const out: Record<string, string | string[]> = Object.create(null)
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const value = rawHeaders[at + 1] ?? ''
    const known = out[name]
    if (known === undefined) out[name] = value
    else if (typeof known === 'string') out[name] = [known, value]
    else known.push(value)
  }
  return out
}

function upgraded(outgoing: http.ClientRequest, asker: string): Promise<TunnelUpgraded> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', (answer) => {
      try {
        resolve(toAnswer(answer, asker))
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    outgoing.once('upgrade', (answer, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve({ status: 101, headers: headersOf(answer), stream: socket })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}
