import type { IncomingMessage } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '@skerry/base'
import { WebSocketServer, type ServerOptions } from 'ws'
import type { SessionDeps } from './agent-session.ts'
import { tunnelProtocol } from './dial-web-socket.ts'
import { acceptTunnel } from './hub-session.ts'
import { featuresHeader, ownFeaturesText } from './tunnel-features.ts'
import { messageBytesMax, validateTunnelLimits, type TunnelLimits } from './tunnel-limits.ts'
import type { TunnelRegistry } from './tunnel-registry.ts'
import { closeOptions, webSocketLink, type LinkHandshake } from './web-socket-link.ts'

/** Who the agent is, or why it may not come in. */
export type TunnelAuthentication =
  | { readonly identity: string }
  | { readonly status: 400 | 401 | 403 | 429 | 503; readonly reason: string; retryAfterS?: number }

export interface TunnelServerOptions {
  /** Client certificate, token and revocation are its business; it gets the raw request. */
  authenticate(request: IncomingMessage, signal: AbortSignal): Promise<TunnelAuthentication>
  registry: TunnelRegistry
  limits?: Partial<TunnelLimits>
  /** New tunnels per second; above it agents are told when to come back. */
  acceptsPerSecond?: number
  /** Handshakes that wait for authenticate(). */
  handshakesMax?: number
}

export const tunnelServerDefaults = Object.freeze({ acceptsPerSecond: 500, handshakesMax: 1_000 })

/** Server side of the handshake; the caller has routed the request here by its path. */
export interface TunnelServer {
  /** For the 'upgrade' event of an HTTP/1.1 server, also of http2's with allowHTTP1. */
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export function createTunnelServer(options: TunnelServerOptions, deps: SessionDeps): TunnelServer {
  const limits = validateTunnelLimits(options.limits)
  const { acceptsPerSecond, handshakesMax } = { ...tunnelServerDefaults, ...options }
  const takeAccept = acceptRate(acceptsPerSecond, deps.clock)
  const serverOptions: ServerOptions & typeof closeOptions = {
    ...closeOptions,
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax(limits),
    handleProtocols: () => tunnelProtocol,
  }
  const server = new WebSocketServer(serverOptions)
  server.on('headers', (headers) => headers.push(`${featuresHeader}: ${ownFeaturesText}`))
  let handshakes = 0

  const admit = async (request: IncomingMessage, signal: AbortSignal) => {
    if (!offersProtocol(request)) {
      return { status: 400, reason: anotherVersion } as const
    }
    if (options.registry.isFull || handshakes >= handshakesMax || !takeAccept()) {
      const retryAfterS = retryAfterSeconds
      return { status: 503, reason: 'too many agents come at once', retryAfterS } as const
    }
    handshakes += 1
    try {
      return await options.authenticate(request, signal)
    } finally {
      handshakes -= 1
    }
  }

  return {
    onUpgrade(request, socket, head) {
      const abort = new AbortController()
      const onEarlyEnd = (): void => abort.abort(new Error('Cannot go on: the agent is gone'))
      // The peer may reset at any time; without a listener that would end the process.
      socket.on('error', onEarlyEnd)
      socket.once('close', onEarlyEnd)
      const timer = deadline(socket, limits, deps.clock)
      admit(request, abort.signal)
        .then((verdict) => {
          timer[Symbol.dispose]()
          if (socket.destroyed) return
          if (!('identity' in verdict)) return refuse(socket, verdict)
          server.handleUpgrade(request, socket, head, (webSocket) => {
            const link = webSocketLink(webSocket, handshakeOf(request, socket))
            const session = acceptTunnel(link, { limits }, deps)
            options.registry.add(verdict.identity, session)
          })
        })
        .catch((error: unknown) => {
          timer[Symbol.dispose]()
          const cause = error instanceof Error ? error : new Error(String(error))
          if (!abort.signal.aborted) deps.log.error('Agent not authenticated', { error: cause })
          refuse(socket, { status: 503, reason: 'authentication failed', retryAfterS: 5 })
        })
    },
  }
}

const retryAfterSeconds = 5
const anotherVersion = `this speaks ${tunnelProtocol}: give hub and agent the same version`

function offersProtocol(request: IncomingMessage): boolean {
  const offered = request.headers['sec-websocket-protocol'] ?? ''
  return offered.split(',').some((name) => name.trim() === tunnelProtocol)
}

function handshakeOf({ headers }: IncomingMessage, socket: Duplex): LinkHandshake {
  const named = headers[featuresHeader]
  const featuresText = typeof named === 'string' ? named : undefined
  return { socket: bytesReadOf(socket), featuresText }
}

function deadline(socket: Duplex, limits: TunnelLimits, clock: Clock): Timer {
  return clock.setTimer(limits.dialMs, () => void socket.destroy())
}

/** A bucket of one second's tokens, refilled as time passes. */
function acceptRate(perSecond: number, clock: Clock): () => boolean {
  let tokens = perSecond
  let filledMs = clock.monotonicMs()
  return () => {
    const nowMs = clock.monotonicMs()
    tokens = Math.min(perSecond, tokens + ((nowMs - filledMs) * perSecond) / 1_000)
    filledMs = nowMs
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

function refuse(
  socket: Duplex,
  verdict: Exclude<TunnelAuthentication, { identity: string }>,
): void {
  const { status, reason, retryAfterS } = verdict
  const body = `${reason}\n`
  // Agents show the status line; only what is fixed text here may stand in it.
  const phrase = reason === anotherVersion ? reason : (STATUS_CODES[status] ?? '')
  const lines = [
    `HTTP/1.1 ${status} ${phrase}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retryAfterS === undefined ? [] : [`Retry-After: ${retryAfterS}`]),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

function bytesReadOf(socket: Duplex): Pick<Socket, 'bytesRead'> {
  // Node's HTTP servers hand out net.Socket or tls.TLSSocket; a bare Duplex counts nothing.
  return 'bytesRead' in socket ? (socket as Socket) : { bytesRead: 0 }
}
