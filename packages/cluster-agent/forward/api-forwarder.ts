import type * as http from 'node:http'
import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import {
  asError,
  abortReason,
  checkPeerHead,
  checkPeerSwitch,
  endWith,
  fieldsOfRaw,
  fieldsOfRecord,
  PeerAnswerError,
  peerHeadOf,
  requestOver,
  type Clock,
  type Logger,
} from '@skerry/base'
import {
  BadAnswerError,
  HttpPool,
  type AnswerHeaders,
  type ClientCredentials,
  type HttpAnswer,
  type HttpsTransportConfig,
} from '@skerry/client'
import {
  WholeBody,
  type TunnelHandler,
  type TunnelHeaders,
  type TunnelRequest,
  type TunnelResponse,
  type TunnelUpgraded,
} from '@skerry/tunnel'
import type { AgentRefusal } from '@skerry/gateway'
import { impersonationRefusal, type ImpersonationPolicy } from '@skerry/membership'
import { isBoundedInTime, notAnswered } from './answer-limit.ts'
import { openKept, openOwn } from './api-connection.ts'
import { statusAnswer } from './status-answer.ts'
import { apiForwarderDefaults } from '../limits-table.ts'

export interface ApiForwarderOptions {
  /** The local API server, with the agent's credentials. */
  readonly api: HttpsTransportConfig
  /** The users whom it may impersonate. If omitted, everybody whom the hub names. */
  readonly policy?: ImpersonationPolicy
  /**
   * The name of this client in errors about an API server that does not answer. If omitted, the cluster's
   * agent.
   */
  readonly asker?: string
  /** The agent answered in place of the API server. */
  readonly onRefused?: (reason: AgentRefusal) => void
  readonly limits?: Partial<ApiForwarderLimits>
}

export interface ApiForwarderLimits {
  readonly connectMs: number
  /**
   * The time until an answer must begin, for requests that API servers bound themselves; a little more than
   * their bound.
   */
  readonly answerMs: number
  readonly socketsMax: number
  readonly idleSocketsMax: number
  readonly idleSocketMs: number
}

export interface ApiForwarderDeps {
  readonly clock: Clock
  readonly log: Logger
}

export interface ApiForwarder extends TunnelHandler, Disposable {}

/**
 * Forwards requests from the tunnel to the local API server, as the user that the hub names. Nobody gets the
 * agent's own rights: a request that impersonates no user is refused.
 */
export function createApiForwarder(
  options: ApiForwarderOptions,
  { clock, log }: ApiForwarderDeps,
): ApiForwarder {
  const { api, policy = {}, asker = 'its agent' } = options
  const stop = new AbortController()
  const server: Server = {
    api,
    base: new URL(api.server),
    limits: { ...apiForwarderDefaults, ...options.limits },
    clock,
    signal: stop.signal,
    pool: undefined,
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
        return toAnswer(await ask(server, request, signal), request.method, asker)
      }),
    onUpgrade: (request, signal) =>
      answering(request, signal, async () => {
        return upgrade(server, request, asker, signal)
      }),
    [Symbol.dispose]() {
      stop.abort(new Error('The way to the cluster is closed'))
      server.pool?.connections[Symbol.dispose]()
    },
  }
}

/** The name by which the hub, its audit log and the API server know the request. */
export function auditIdOf({ headers }: TunnelRequest): string {
  const { 'audit-id': auditId } = headers
  return typeof auditId === 'string' ? auditId : ''
}

/** An answer of the agent itself, in place of its API server's. */
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
  const cause = asError(error)
  if (cause instanceof StatusError) return { reason: 'unreachable', status: cause }
  if (cause instanceof PeerAnswerError || cause instanceof BadAnswerError) {
    const text = `Cannot pass answer: ${cause.message}`
    return { reason: 'unreachable', status: new StatusError('Unknown', text, { code: 502, cause }) }
  }
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
  readonly clock: Clock
  /** Aborts when the forwarder is disposed. */
  readonly signal: AbortSignal
  /** The pool is kept for the certificate with which its connections were opened. */
  pool: { readonly connections: HttpPool; readonly certificate: string | undefined } | undefined
}

async function ask(
  server: Server,
  request: TunnelRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { base, api } = server
  const credentials = api.credentials ? await api.credentials(signal) : noCredentials
  const { method, path, body } = request
  const headers = ownHeaders(request.headers, credentials, base)
  const isBounded = isBoundedInTime(path)
  const asked = { method, path: pathAt(base, path), headers, body, isBounded }
  const answer = await poolFor(server, credentials).ask(asked, signal)
  if (answer.status === 401) api.credentials?.onRefused?.(credentials)
  return answer
}

const noCredentials: ClientCredentials = Object.freeze({})

function pathAt({ pathname }: URL, path: string): string {
  return pathname === '/' ? path : `${pathname.replace(/\/$/, '')}${path}`
}

function poolFor(server: Server, credentials: ClientCredentials): HttpPool {
  const { certificate } = credentials
  if (server.pool && server.pool.certificate === certificate) return server.pool.connections
  // Requests in progress keep the certificate with which they began.
  server.pool?.connections.retire()
  const { limits, clock } = server
  const connections = new HttpPool({
    ...limits,
    clock,
    open: openKept(server, credentials),
    late: () => notAnswered(limits.answerMs),
  })
  server.pool = { connections, certificate }
  return connections
}

/** Asks for an upgrade over a connection of its own, because it may last long. */
async function upgrade(
  server: Server,
  request: TunnelRequest,
  asker: string,
  signal: AbortSignal,
): Promise<TunnelUpgraded> {
  const { base, api } = server
  const credentials = api.credentials ? await api.credentials(signal) : noCredentials
  const stream = await openOwn(server, credentials, signal)
  const asked = {
    method: request.method,
    path: pathAt(base, request.path),
    headers: mutable(ownHeaders(request.headers, credentials, base)),
  }
  const { type, response } = await requestOver(stream, asked, signal)
  try {
    if (type === 'upgrade') return switched(stream, response, request)
    endWith(stream, signal)
    if (response.statusCode === 401) {
      api.credentials?.onRefused?.(credentials)
      throw refused(asker)
    }
    const { status, headers } = peerHeadOf(response, { peer, method: request.method })
    return { status, headers, body: response }
  } catch (error) {
    stream.destroy()
    throw error
  }
}

function switched(
  stream: Duplex,
  { rawHeaders }: http.IncomingMessage,
  { headers: sent }: TunnelRequest,
): TunnelUpgraded {
  const offered = { peer, offered: String(sent['upgrade'] ?? '') }
  return { status: 101, headers: checkPeerSwitch(fieldsOfRaw(rawHeaders), offered), stream }
}

/** Returns the hub's headers, without those that only the agent itself may send to its API server. */
function ownHeaders(
  headers: TunnelHeaders,
  { bearerToken }: ClientCredentials,
  base: URL,
): AnswerHeaders {
  const out: Record<string, string | readonly string[]> = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || name === 'authorization' || /^x[-_]remote[-_]/.test(name)) continue
    out[name] = value
  }
  out['host'] = base.host
  if (bearerToken) out['authorization'] = `Bearer ${bearerToken}`
  return out
}

function mutable(headers: AnswerHeaders): http.OutgoingHttpHeaders {
  const out: http.OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(headers)) {
    out[name] = typeof value === 'string' ? value : [...value]
  }
  return out
}

const peer = "the cluster's API server"

function toAnswer(answer: HttpAnswer, method: string, asker: string): TunnelResponse {
  const { body } = answer
  const drop = (): void => {
    if (!(body instanceof Uint8Array)) body.destroy()
  }
  try {
    if (answer.status === 401) throw refused(asker)
    const fields = fieldsOfRecord(answer.headers)
    const { status, headers } = checkPeerHead({ status: answer.status, fields }, { peer, method })
    return { status, headers, body: body instanceof Uint8Array ? new WholeBody(body) : body }
  } catch (error) {
    drop()
    throw error
  }
}

function refused(asker: string): OwnAnswer {
  const text = `Cannot pass request: the cluster refuses ${asker}`
  return new OwnAnswer('unauthorized', new StatusError('ServiceUnavailable', text))
}
