import { constants, performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock, Logger } from '@skerry/base'
import { joinStreams } from './join-streams.ts'
import { watchLink, type LinkHealth } from './link-health.ts'
import { governStreams, sessionOptions } from './session-window.ts'
import { duplexOf, readableOf } from './stream-adapter.ts'
import {
  assertTarget,
  BadMessageError,
  parseHeaders,
  switchedHeader,
  upgradeHeader,
  wireHeaders,
  wireUpgradeHeaders,
} from './tunnel-headers.ts'
import type { TunnelLimits } from './tunnel-limits.ts'
import type { TunnelLink } from './tunnel-link.ts'
import { isSwitched, TunnelStreamError } from './tunnel-message.ts'
import type { TunnelRequest, TunnelResponse, TunnelUpgraded } from './tunnel-message.ts'

/** What answers requests at the edge. The signal aborts when the asker goes or the tunnel ends. */
export interface TunnelHandler {
  onRequest(request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse>
  /** The request has `upgrade` and `connection` headers, as the client sent them. */
  onUpgrade(request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded>
}

/** The agent's end of one tunnel. */
export interface AgentSession {
  readonly streams: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly rttMs: number | undefined
  /** The hub takes no new requests for this tunnel: dial another one, this one finishes its streams. */
  readonly draining: Promise<void>
  /** Why it ended; never rejects. */
  readonly closed: Promise<string>
  close(reason: string): void
}

export interface SessionDeps {
  clock: Clock
  log: Logger
}

/** Serves requests over the link until it ends. */
export function serveTunnel(
  link: TunnelLink,
  handler: TunnelHandler,
  limits: TunnelLimits,
  deps: SessionDeps,
): AgentSession {
  const session = performServerHandshake(link.stream, sessionOptions(limits))
  session.setLocalWindowSize(limits.sessionWindowBytes)
  const streams = governStreams(session, limits)
  link.stream.on('data', (chunk: Uint8Array) => streams.onBytes(chunk.length))
  let reason: string | undefined
  const end = (why: string): void => {
    reason ??= why
    session.destroy()
    link.terminate()
  }
  session.on('stream', (stream, _headers, flags, flat) => {
    streams.add(stream)
    const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0
    serveStream(stream, { flat, hasBody }, { handler, limits, log: deps.log })
  })
  session.on('error', (error) => end(`protocol failed: ${error.message}`))
  const draining = new Promise<void>((resolve) => {
    session.once('goaway', (_code, _lastStream, why) => {
      reason ??= why?.toString() || 'the hub drains'
      resolve()
    })
    session.once('close', () => resolve())
  })
  const onDead = (ms: number): void => end(`nothing heard for ${Math.round(ms / 1_000)} s`)
  const health: LinkHealth = watchLink(link, limits, deps.clock, onDead)
  const closed = link.closed.then((linkReason) => {
    health[Symbol.dispose]()
    session.destroy()
    return reason ?? linkReason
  })
  return {
    draining,
    closed,
    get streams() {
      return streams.count
    },
    get bytesIn() {
      return link.bytesIn
    },
    get bytesOut() {
      return link.bytesOut
    },
    get rttMs() {
      return health.rttMs
    },
    close(why) {
      reason ??= why
      link.close(why)
      session.destroy()
    },
  }
}

interface Arrival {
  flat: readonly string[]
  hasBody: boolean
}

interface ServeContext {
  handler: TunnelHandler
  limits: TunnelLimits
  log: Logger
}

function serveStream(stream: ServerHttp2Stream, arrival: Arrival, context: ServeContext): void {
  const abort = new AbortController()
  let isAnswered = false
  stream.once('close', () => {
    // An abort costs errors with stacks: only where somebody is to be stopped.
    const isOver = isAnswered || (stream.writableFinished && stream.rstCode === 0)
    if (!isOver) abort.abort(new TunnelStreamError('Cannot go on: the asker is gone'))
  })
  // Resets are the other end's right; the signal tells the handler.
  stream.on('error', (error) => context.log.debug('Tunnel stream failed', { error }))
  answerStream(stream, arrival, context, abort.signal).then(
    () => (isAnswered = true),
    (error: unknown) => {
      if (!abort.signal.aborted) refuse(stream, error, context.log)
    },
  )
}

async function answerStream(
  stream: ServerHttp2Stream,
  arrival: Arrival,
  context: ServeContext,
  signal: AbortSignal,
): Promise<void> {
  const { handler, limits } = context
  const { request, protocol } = requestOf(stream, arrival, limits)
  if (protocol === undefined) {
    await sendAnswer(stream, await handler.onRequest(request, signal), limits)
    if (request.body instanceof Readable) dropRest(request.body)
    return
  }
  const answer = await handler.onUpgrade(upgradeRequest(request, protocol), signal)
  if (!isSwitched(answer)) return sendAnswer(stream, answer, limits)
  if (stream.destroyed) {
    answer.stream.destroy()
    return
  }
  const { upgrade = protocol } = answer.headers
  const switched = [switchedHeader, typeof upgrade === 'string' ? upgrade : protocol]
  stream.respond([':status', '200', ...wireUpgradeHeaders(answer.headers, limits), ...switched])
  await joinStreams(duplexOf(stream), answer.stream)
}

function requestOf(stream: ServerHttp2Stream, arrival: Arrival, limits: TunnelLimits) {
  const { pseudo, headers: all } = parseHeaders(arrival.flat, limits)
  const { [upgradeHeader]: protocol, ...headers } = all
  const method = pseudo.get(':method') ?? ''
  const path = pseudo.get(':path') ?? ''
  assertTarget(method, path, limits)
  const host = pseudo.get(':authority')
  const request: TunnelRequest = { method, path, headers: host ? { host, ...headers } : headers }
  if (protocol !== undefined && typeof protocol !== 'string') {
    throw new BadMessageError('Cannot upgrade: more than one protocol')
  }
  if (arrival.hasBody && protocol === undefined) request.body = readableOf(stream)
  return { request, protocol }
}

function upgradeRequest(request: TunnelRequest, protocol: string): TunnelRequest {
  const headers = { ...request.headers, connection: 'Upgrade', upgrade: protocol }
  return { ...request, headers }
}

async function sendAnswer(
  stream: ServerHttp2Stream,
  answer: TunnelResponse,
  limits: TunnelLimits,
): Promise<void> {
  const { status, headers, body } = answer
  const head = [':status', String(status), ...wireHeaders(headers, limits)]
  const length = Number(headers['content-length'])
  if (!(body instanceof Readable) || !(length <= wholeBytesMax)) {
    stream.respond(head)
    return pipeline(body, stream)
  }
  const whole = await readWhole(body)
  if (stream.destroyed) return
  // In one turn: head, body and end leave as one message.
  stream.respond(head)
  stream.end(whole)
}

/** Answers up to this length are read before their head is sent. */
const wholeBytesMax = 16_384

/** Rejects when it broke off before its end. */
function readWhole(body: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    body.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    body.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    )
    body.once('error', reject)
    body.once('close', () => {
      if (!body.readableEnded) reject(new TunnelStreamError('Cannot answer: it broke off'))
    })
  })
}

/** The answer is whole. What is left of the request is read away; a long rest is cut off. */
function dropRest(body: Readable): void {
  let bytes = 0
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length
    if (bytes > dropBytesMax) body.destroy()
  })
  body.resume()
}

const dropBytesMax = 262_144

function refuse(stream: ServerHttp2Stream, error: unknown, log: Logger): void {
  const cause = error instanceof Error ? error : new Error(String(error))
  const status = error instanceof BadMessageError ? error.status : 502
  log.debug('Tunnel request failed', { error: cause })
  if (stream.destroyed) return
  // Half an answer must not look whole: reset it.
  if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  stream.respond([':status', String(status), 'content-type', 'text/plain; charset=utf-8'])
  stream.end(`${cause.message}\n`)
}
