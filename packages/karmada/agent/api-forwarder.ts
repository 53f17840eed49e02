import * as http from 'node:http'
import * as https from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { StatusError } from '@skerry/api'
import { abortReason, type Logger } from '@skerry/base'
import { tlsOptions, type ClientCredentials, type HttpsTransportConfig } from '@skerry/client'
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
import { isBoundedInTime, limitAnswerTime } from './answer-limit.ts'

export interface ApiForwarderOptions {
  /** The local API server, and who the agent is to it. */
  readonly api: HttpsTransportConfig
  /** As whom it acts; absent: as everybody whom the hub names. */
  readonly policy?: ImpersonationPolicy
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
  const { api, policy = {} } = options
  const server: Server = {
    api,
    base: new URL(api.server),
    limits: { ...apiForwarderDefaults, ...options.limits },
    sockets: undefined,
  }
  return {
    async onRequest(request, signal) {
      const refusal = refusalOf(request, policy)
      if (refusal) return statusAnswer(refusal)
      try {
        const outgoing = await start(server, { request, isUpgrade: false }, signal)
        return toAnswer(await answerOf(outgoing, request))
      } catch (error) {
        return failed(error, log, signal)
      }
    },
    async onUpgrade(request, signal) {
      const refusal = refusalOf(request, policy)
      if (refusal) return statusAnswer(refusal)
      try {
        const outgoing = await start(server, { request, isUpgrade: true }, signal)
        return await upgraded(outgoing)
      } catch (error) {
        return failed(error, log, signal)
      }
    },
    [Symbol.dispose]: () => server.sockets?.agent.destroy(),
  }
}

interface Server {
  readonly api: HttpsTransportConfig
  readonly base: URL
  readonly limits: ApiForwarderLimits
  /** Kept open for the certificate that they were opened with. */
  sockets: { readonly agent: http.Agent; readonly certificate: string | undefined } | undefined
}

function refusalOf(
  { headers }: TunnelRequest,
  policy: ImpersonationPolicy,
): StatusError | undefined {
  const why = impersonationRefusal(policy, headers)
  return why === undefined ? undefined : new StatusError('Forbidden', `Cannot pass request: ${why}`)
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
    signal,
  }
  const outgoing = isUpgrade
    ? http.request({ ...options, createConnection: () => openSocket(server, credentials) })
    : (base.protocol === 'http:' ? http : https).request({
        ...options,
        agent: agentFor(server, credentials),
      })
  limitConnectTime(outgoing, server.limits.connectMs)
  if (!isUpgrade && isBoundedInTime(request.path)) {
    limitAnswerTime(outgoing, server.limits.answerMs)
  }
  return outgoing
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
  const { api, base, limits } = server
  const shared: https.AgentOptions = {
    keepAlive: true,
    maxSockets: limits.socketsMax,
    maxFreeSockets: limits.idleSocketsMax,
    timeout: limits.idleSocketMs,
  }
  const agent =
    base.protocol === 'http:'
      ? new http.Agent(shared)
      : new https.Agent({ ...shared, ...sharedTls(api, credentials) })
  server.sockets = { agent, certificate }
  return agent
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

function toAnswer(answer: http.IncomingMessage): TunnelResponse {
  const status = answer.statusCode ?? 502
  if (status === 401) {
    answer.destroy()
    return statusAnswer(
      new StatusError('ServiceUnavailable', 'Cannot pass request: the cluster refuses its agent'),
    )
  }
  return { status, headers: headersOf(answer), body: answer }
}

function headersOf({ headersDistinct }: http.IncomingMessage): TunnelHeaders {
  const out: Record<string, string | readonly string[]> = {}
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    out[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return out
}

function upgraded(outgoing: http.ClientRequest): Promise<TunnelUpgraded> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', (answer) => resolve(toAnswer(answer)))
    outgoing.once('upgrade', (answer, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve({ status: 101, headers: headersOf(answer), stream: socket })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** No answer from the local API server: said in a form that clients understand. */
function failed(error: unknown, log: Logger, signal: AbortSignal): TunnelResponse {
  if (signal.aborted) throw abortReason(signal)
  const cause = error instanceof Error ? error : new Error(String(error))
  log.info('Local API server did not answer', { error: cause })
  if (cause instanceof StatusError) return statusAnswer(cause)
  const text = `Cannot reach the cluster's API server: ${cause.message}`
  return statusAnswer(new StatusError('ServiceUnavailable', text, { cause }))
}

function statusAnswer(error: StatusError): TunnelResponse {
  const body = Buffer.from(`${JSON.stringify(error.toStatus())}\n`)
  return {
    status: error.code,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
    body: onePiece(body),
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
