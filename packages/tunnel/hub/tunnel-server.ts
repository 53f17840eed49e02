import type { IncomingMessage } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { asError } from '@skerry/base'
import { AcceptRate } from './accept-rate.ts'
import type { SessionDeps, TunnelHandler } from '../session/agent-session.ts'
import { tunnelProtocol } from '../agent/dial-web-socket.ts'
import { acceptTunnel, type TunnelSession } from '../session/hub-session.ts'
import {
  featuresHeader,
  offeredFeaturesText,
  type TunnelFeature,
} from '../frame/tunnel-features.ts'
import { messageBytesMax, validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import type { TunnelRegistry } from './tunnel-registry.ts'
import { answerUpgrade, asksForWebSocket } from '../web-socket/answer-upgrade.ts'
import { webSocketLink } from '../web-socket/web-socket-link.ts'
import { type TunnelLimits, tunnelServerDefaults } from '../limits-table.ts'

/** The agent's identity, or the reason for its refusal. */
export type TunnelAuthentication =
  | { readonly identity: string }
  | {
      readonly status: 400 | 401 | 403 | 409 | 429 | 503
      readonly reason: string
      retryAfterS?: number
    }

/**
 * How a handshake ended: a `busy` agent is given a time to return, `late` and `gone` got no answer,
 * `repeated` came from an agent that has a tunnel to this replica and is looking for the others.
 */
export type HandshakeResult =
  | 'accepted'
  | 'refused'
  | 'repeated'
  | 'version'
  | 'busy'
  | 'failed'
  | 'late'
  | 'gone'

export interface TunnelServerOptions {
  /** Checks client certificate, token and revocation; it gets the raw request. */
  authenticate(request: IncomingMessage, signal: AbortSignal): Promise<TunnelAuthentication>
  registry: TunnelRegistry
  limits?: Partial<TunnelLimits>
  /** The new tunnels per second; further agents are given a time to return. */
  acceptsPerSecond?: number
  /** The number of handshakes that wait for authenticate(). */
  handshakesMax?: number
  /** The optional parts of the protocol in addition to `traffic` that agents may use here. If omitted, none. */
  offers?: readonly TunnelFeature[]
  /** Returns what answers the requests of the agent that opened this tunnel. If omitted, it must not send any. */
  handlerOf?: (request: IncomingMessage) => TunnelHandler | undefined
  /** A tunnel has opened; called before the registry has it. */
  onAccepted?: (request: IncomingMessage, session: TunnelSession, identity: string) => void
  /** Called once for each handshake. */
  onHandshake?: (result: HandshakeResult) => void
}

/** The server side of the handshake; the caller has routed the request here by its path. */
export interface TunnelServer {
  /**
   * Handles the 'upgrade' event of an HTTP/1.1 server, including http2's with allowHTTP1. Resolves when
   * decided: with the status of a refusal, or undefined for a tunnel or if nobody waits for an answer. Never
   * rejects.
   */
  readonly onUpgrade: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => Promise<number | undefined>
}

export function createTunnelServer(options: TunnelServerOptions, deps: SessionDeps): TunnelServer {
  const limits = validateTunnelLimits(options.limits)
  const { acceptsPerSecond, handshakesMax } = { ...tunnelServerDefaults, ...options }
  const rate = new AcceptRate(acceptsPerSecond, deps.clock)
  const admit = admission({ ...options, handshakesMax }, rate)
  const headers = {
    'Sec-WebSocket-Protocol': tunnelProtocol,
    [featuresHeader]: offeredFeaturesText(options.offers ?? []),
  }
  const open = (request: IncomingMessage, link: TunnelLink, identity: string): void => {
    const handler = options.handlerOf?.(request)
    const session = acceptTunnel(link, { limits, ...(handler ? { handler } : {}) }, deps)
    options.onAccepted?.(request, session, identity)
    options.registry.add(identity, session)
  }

  return {
    onUpgrade(request, socket, head) {
      const abort = new AbortController()
      const onEarlyEnd = (): void => abort.abort(new Error('Cannot go on: the agent is gone'))
      // The peer may reset at any time; without a listener that would end the process.
      socket.on('error', onEarlyEnd)
      socket.once('close', onEarlyEnd)
      const ended = { isLate: false }
      const timer = deps.clock.setTimer(limits.dialMs, () => {
        ended.isLate = true
        socket.destroy()
      })
      const report = options.onHandshake ?? (() => undefined)
      const unanswered = (): HandshakeResult => (ended.isLate ? 'late' : 'gone')
      return admit(request, abort.signal)
        .then((verdict) => {
          timer[Symbol.dispose]()
          if (socket.destroyed) {
            report(unanswered())
            return undefined
          }
          if (!('identity' in verdict)) {
            report(resultOf(verdict))
            refuse(socket, verdict)
            return verdict.status
          }
          answerUpgrade(request, { socket, head }, headers)
          const link = webSocketLink(socket, {
            masks: 'none',
            messageBytesMax: messageBytesMax(limits),
            clock: deps.clock,
            featuresText: featuresTextOf(request),
          })
          // From here on the link listens, so the request's own listeners need not stay.
          socket.off('error', onEarlyEnd)
          socket.off('close', onEarlyEnd)
          report('accepted')
          open(request, link, verdict.identity)
          return undefined
        })
        .catch((error: unknown) => {
          timer[Symbol.dispose]()
          const cause = asError(error)
          if (!abort.signal.aborted) deps.log.error('Agent not authenticated', { error: cause })
          report(abort.signal.aborted ? unanswered() : 'failed')
          refuse(socket, { status: 503, reason: 'authentication failed', retryAfterS: 5 })
          return 503
        })
    },
  }
}

/** Returns a check of agents that runs for a limited number at a time. */
function admission(
  { registry, authenticate, handshakesMax }: Admission,
  rate: AcceptRate,
): (request: IncomingMessage, signal: AbortSignal) => Promise<TunnelAuthentication> {
  let handshakes = 0
  return async (request, signal) => {
    if (!offersProtocol(request)) return { status: 400, reason: anotherVersion }
    if (!asksForWebSocket(request)) return { status: 400, reason: noWebSocket }
    if (registry.isFull) return fullRefusal
    if (handshakes >= handshakesMax || !rate.take()) {
      return { status: 503, reason: tooMany, retryAfterS: rate.retryAfterS() }
    }
    handshakes += 1
    try {
      return await authenticate(request, signal)
    } finally {
      handshakes -= 1
    }
  }
}

type Admission = Required<Pick<TunnelServerOptions, 'registry' | 'authenticate' | 'handshakesMax'>>

const noWebSocket = 'this is for WebSockets of version 13'
const tooMany = 'too many agents connect at once'
const allTaken = 'all its tunnels are taken'
/** A hub that is full stays so for long. */
const fullRefusal = Object.freeze({ status: 503, reason: allTaken, retryAfterS: 60 } as const)
const anotherVersion = `this speaks ${tunnelProtocol}: give hub and agent the same version`

function offersProtocol(request: IncomingMessage): boolean {
  const offered = request.headers['sec-websocket-protocol'] ?? ''
  return offered.split(',').some((name) => name.trim() === tunnelProtocol)
}

function featuresTextOf({ headers }: IncomingMessage): string | undefined {
  const named = headers[featuresHeader]
  return typeof named === 'string' ? named : undefined
}

function resultOf({ reason, status }: Refusal): HandshakeResult {
  if (status === 409) return 'repeated'
  // All of these are fixed texts of this file.
  if (reason === anotherVersion) return 'version'
  return reason === tooMany || reason === allTaken ? 'busy' : 'refused'
}

type Refusal = Exclude<TunnelAuthentication, { identity: string }>

function refuse(socket: Duplex, verdict: Refusal): void {
  const { status, reason, retryAfterS } = verdict
  const body = `${reason}\n`
  // Agents show the status line, so it contains only fixed texts.
  const phrase = reason === anotherVersion ? reason : (STATUS_CODES[status] ?? '')
  const lines = [
    `HTTP/1.1 ${status} ${phrase}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    // RFC 6455, 4.2.2 requires the supported version for a client that requests another one.
    ...(reason === noWebSocket ? ['Sec-WebSocket-Version: 13'] : []),
    ...(retryAfterS === undefined ? [] : [`Retry-After: ${retryAfterS}`]),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
