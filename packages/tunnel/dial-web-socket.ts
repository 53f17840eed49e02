import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { linkedSignal, type Clock } from '@skerry/base'
import { WebSocket, type ClientOptions } from 'ws'
import { messageBytesMax, type TunnelLimits } from './tunnel-limits.ts'
import { featuresHeader, ownFeaturesText } from './tunnel-features.ts'
import type {
  TunnelDial,
  TunnelEndpoint,
  TunnelLink,
  TunnelProxy,
  TunnelTls,
} from './tunnel-link.ts'
import { closeOptions, webSocketLink } from './web-socket-link.ts'

/** Names the protocol in the handshake; a change that old peers cannot speak gets a new number. */
export const tunnelProtocol = 'tunnel.v2.skerry'

/** The hub did not let the agent in, or could not be reached; `cause` has the first fault. */
export class TunnelDialError extends Error {
  override name = 'TunnelDialError'
  /** HTTP status when the hub, or the proxy, answered and refused. */
  readonly status?: number
  /** How long the hub asks to stay away. */
  readonly retryAfterMs?: number

  constructor(message: string, options: ErrorOptions & { status?: number; retryAfterMs?: number }) {
    super(message, options)
    if (options.status !== undefined) this.status = options.status
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

/** Connects step by step (TCP, proxy, TLS, WebSocket), so that an error names the step. */
export function webSocketDial(limits: TunnelLimits, clock: Clock): TunnelDial {
  return async (endpoint, signal) => {
    using scope = linkedSignal(signal)
    const text = `Cannot dial ${endpoint.url}: no answer in ${limits.dialMs} ms`
    using _timer = clock.setTimer(limits.dialMs, () => scope.abort(new TunnelDialError(text, {})))
    const url = new URL(endpoint.url)
    const socket = await openSocket(endpoint, url, { limits, clock }, scope.signal)
    try {
      return await openWebSocket(socket, endpoint, limits, scope.signal)
    } catch (error) {
      socket.destroy()
      throw error
    }
  }
}

async function openSocket(
  endpoint: TunnelEndpoint,
  url: URL,
  patience: Patience,
  signal: AbortSignal,
): Promise<Socket> {
  const isTls = url.protocol === 'wss:'
  const target = { host: bareHost(url), port: Number(url.port) || (isTls ? 443 : 80) }
  const raw = endpoint.proxy
    ? await throughProxy(endpoint.proxy, target, patience, signal)
    : await openTcp(target, patience, signal)
  if (!isTls) return raw
  return secure(raw, target.host, endpoint.tls ?? {}, signal)
}

interface Target {
  host: string
  port: number
}

interface Patience {
  readonly limits: Pick<TunnelLimits, 'connectMs'>
  readonly clock: Clock
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/**
 * The kernel asks again after 1, 2, 4, 8 s: while a link is down that grows past what an operator
 * waits for once it is back. So an attempt is given up early, and the agent makes a fresh one.
 */
async function openTcp(
  target: Target,
  { limits: { connectMs }, clock }: Patience,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connectTcp({ ...target, noDelay: true, keepAlive: true })
  const where = `${target.host} port ${target.port}`
  using _timer = clock.setTimer(
    connectMs,
    () => void socket.destroy(new Error(`no answer in ${connectMs} ms`)),
  )
  return await ready(socket, { event: 'connect', failure: `Cannot connect to ${where}` }, signal)
}

function secure(raw: Socket, host: string, tls: TunnelTls, signal: AbortSignal): Promise<Socket> {
  const serverName = tls.serverName ?? host
  const options: ConnectionOptions = { socket: raw, ALPNProtocols: ['http/1.1'], host: serverName }
  // SNI carries names only (RFC 6066, 3).
  if (!/^[\d.]+$|:/.test(serverName)) options.servername = serverName
  for (const name of ['ca', 'cert', 'key'] as const) {
    const value = tls[name]
    if (value !== undefined) options[name] = value
  }
  const failure = `Cannot trust ${serverName} or be trusted by it`
  return ready(connectTls(options), { event: 'secureConnect', failure }, signal)
}

async function throughProxy(
  proxy: TunnelProxy,
  target: Target,
  patience: Patience,
  signal: AbortSignal,
): Promise<Socket> {
  const url = new URL(proxy.url)
  const isTls = url.protocol === 'https:'
  const own = { host: bareHost(url), port: Number(url.port) || (isTls ? 443 : 80) }
  const tcp = await openTcp(own, patience, signal)
  const socket = isTls ? await secure(tcp, own.host, proxy.ca ? { ca: proxy.ca } : {}, signal) : tcp
  const host = target.host.includes(':') ? `[${target.host}]` : target.host
  const path = `${host}:${target.port}`
  const headers: Record<string, string> = { host: path }
  if (url.username !== '') {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['proxy-authorization'] = `Basic ${Buffer.from(login).toString('base64')}`
  }
  const request = httpRequest({ method: 'CONNECT', path, headers, createConnection: () => socket })
  const failure = `Cannot pass proxy ${own.host} port ${own.port}`
  return new Promise((resolve, reject) => {
    const onAbort = (): void => void request.destroy(toError(signal.reason))
    signal.addEventListener('abort', onAbort, { once: true })
    request.once('close', () => signal.removeEventListener('abort', onAbort))
    request.once('error', (cause) => reject(new TunnelDialError(failure, { cause })))
    // Sent when the proxy answers CONNECT with anything; 'response' never comes for CONNECT.
    request.once('connect', (answer: IncomingMessage) => {
      const status = answer.statusCode ?? 0
      if (status >= 200 && status < 300) return resolve(socket)
      socket.destroy()
      reject(new TunnelDialError(`${failure}: it answered ${status}`, { status }))
    })
    request.end()
  })
}

function ready<T extends Socket>(
  socket: T,
  step: { event: string; failure: string },
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => void socket.destroy(toError(signal.reason))
    const onError = (cause: Error): void => {
      signal.removeEventListener('abort', onAbort)
      if (signal.aborted) return reject(toError(signal.reason))
      reject(new TunnelDialError(`${step.failure}: ${cause.message}`, { cause }))
    }
    socket.once('error', onError)
    socket.once(step.event, () => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError)
      resolve(socket)
    })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

function openWebSocket(
  socket: Socket,
  endpoint: TunnelEndpoint,
  limits: TunnelLimits,
  signal: AbortSignal,
): Promise<TunnelLink> {
  const isTls = endpoint.url.startsWith('wss:')
  const options: ClientOptions & typeof closeOptions = {
    ...closeOptions,
    createConnection: () => socket,
    headers: { ...endpoint.headers, [featuresHeader]: ownFeaturesText },
    perMessageDeflate: false,
    maxPayload: messageBytesMax(limits),
    // Masks protect plain-text intermediaries from chosen bytes (RFC 6455, 10.3). Within TLS there
    // are none to protect, and a mask of zeros saves a pass over every byte.
    ...(isTls ? { generateMask: () => undefined } : {}),
  }
  const webSocket = new WebSocket(endpoint.url, tunnelProtocol, options)
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      webSocket.terminate()
      reject(toError(signal.reason))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    webSocket.once('close', () => signal.removeEventListener('abort', onAbort))
    let featuresText: string | undefined
    webSocket.once('upgrade', ({ headers }: IncomingMessage) => {
      const value = headers[featuresHeader]
      if (typeof value === 'string') featuresText = value
    })
    webSocket.once('open', () => {
      signal.removeEventListener('abort', onAbort)
      // In this very turn: frames may already be in the socket's buffer.
      resolve(webSocketLink(webSocket, { socket, featuresText }))
    })
    webSocket.once('error', (cause) => {
      reject(new TunnelDialError(`Cannot open tunnel: ${cause.message}`, { cause }))
    })
    webSocket.once('unexpected-response', (_request, answer) => {
      reject(refusal(answer))
      webSocket.terminate()
    })
  })
}

function refusal(answer: IncomingMessage): TunnelDialError {
  const status = answer.statusCode ?? 0
  const seconds = Number(answer.headers['retry-after'])
  const text =
    `Cannot open tunnel: the hub answered ${status} ${answer.statusMessage ?? ''}`.trimEnd()
  const retryAfterMs = seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}
  return new TunnelDialError(text, { status, ...retryAfterMs })
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
