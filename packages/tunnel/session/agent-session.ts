import { Readable } from 'node:stream'
import { asError, type Clock, type Logger } from '@skerry/base'
import { joinStreams } from './join-streams.ts'
import { watchLink, type LinkHealth } from '../traffic/link-health.ts'
import { Multiplexer, type MultiplexerEvents } from './multiplexer.ts'
import { duplexOf, readableOf, sendBody } from './stream-adapter.ts'
import { resetCodes } from '../frame/tunnel-frame.ts'
import { exchange, followSignal, type Asker } from './asked-stream.ts'
import { answerHead, parseRequest, requestHead, switchedHead } from '../frame/tunnel-head.ts'
import { BadMessageError } from '../frame/tunnel-headers.ts'
import type { TrafficBytes } from '../traffic/traffic-meter.ts'
import type { TrafficClass, TrafficRules } from '../traffic/traffic-rules.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import {
  isSwitched,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  WholeBody,
  wholeBytesMax,
} from '../frame/tunnel-message.ts'
import type { TunnelRequest, TunnelResponse, TunnelUpgraded } from '../frame/tunnel-message.ts'
import type { TunnelStream } from './tunnel-stream.ts'
import { tunnelBounds, type TunnelLimits } from '../limits-table.ts'

/** Answers requests at the edge. The signal aborts when the client disconnects or the tunnel ends. */
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
  /** The smoothed round-trip time of its pings; undefined before the first answer. */
  readonly rttMs: number | undefined
  /** Bytes received and not read yet, in all streams. */
  readonly bufferedBytes: number
  /** Bytes to send, in all streams, that the network has not taken yet. */
  readonly queuedBytes: number
  /** The bytes since it began, by class. */
  readonly traffic: TrafficBytes
  /** The sending rules that the hub set last. */
  readonly rules: TrafficRules
  /** Whether the hub takes the open tunnel for a sign that this agent is alive. */
  readonly isPresence: boolean
  /** Reports whether send() has an effect: the hub answers requests, and the tunnel is not about to end. */
  takesRequests(): boolean
  /**
   * Sends a request to the hub itself. Read every body or abort the signal. Rejects with BadMessageError, PeerAnswerError,
   * TunnelBusyError, TunnelClosedError, TunnelStreamError or the signal's reason.
   */
  send(request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse>
  /** The hub takes no new requests for this tunnel: dial another one, this one finishes its streams. */
  readonly draining: Promise<void>
  /** Resolves with the reason of the end; never rejects. */
  readonly closed: Promise<string>
  close(reason: string): void
}

export interface SessionDeps {
  clock: Clock
  log: Logger
  /** If omitted, every request is control until it moves much. */
  classify?: Classify
  /** Receives the bytes of each message, in and out: their buffers soon become garbage. */
  onBytes?: (bytes: number) => void
}

/** Returns the class of a request; each end calls it for what it sends. */
export type Classify = (request: TunnelRequest, isUpgrade: boolean) => TrafficClass

/** Serves requests over the link until it ends. */
export function serveTunnel(
  link: TunnelLink,
  handler: TunnelHandler,
  limits: TunnelLimits,
  deps: SessionDeps,
): AgentSession {
  let reason: string | undefined
  const end = (why: string): void => {
    reason ??= why
    streams.end()
    link.terminate()
  }
  const goneAway = Promise.withResolvers<void>()
  const events: MultiplexerEvents = {
    onOpen: (stream, head) => serveStream(stream, head, { handler, limits, ...deps }),
    onGoAway(why) {
      reason ??= why || 'the hub drains'
      goneAway.resolve()
    },
    onFault: (error) => end(`protocol failed: ${error.message}`),
    onTraffic(rules) {
      streams.setRules(rules)
      reportRules(rules, deps.log)
    },
  }
  const streams = new Multiplexer(link, limits, events, { ...deps, end: 'agent' })
  const onDead = (ms: number): void => end(`nothing heard for ${Math.round(ms / 1_000)} s`)
  const health: LinkHealth = watchLink(link, limits, deps.clock, { onDead, pings: streams })
  const closed = link.closed.then((linkReason) => {
    health[Symbol.dispose]()
    reason ??= linkReason
    streams.end()
    goneAway.resolve()
    return reason
  })
  return {
    ...hubRequests(link, streams, { limits, endReason: () => reason }),
    draining: goneAway.promise,
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
    get bufferedBytes() {
      return streams.bufferedBytes
    },
    get queuedBytes() {
      return streams.queuedBytes
    },
    get traffic() {
      return streams.traffic
    },
    get rules() {
      return streams.rules
    },
    close(why) {
      reason ??= why
      link.close(why)
      streams.end()
    },
  }
}

/** The agent's own requests, over streams that it opens. */
function hubRequests(
  { features }: TunnelLink,
  streams: Multiplexer,
  { limits, endReason }: { readonly limits: TunnelLimits; readonly endReason: Asker['endReason'] },
): Pick<AgentSession, 'isPresence' | 'takesRequests' | 'send'> {
  const asker: Asker = { peer: 'the hub', endReason }
  const takesRequests = (): boolean =>
    endReason() === undefined && features?.has('requests') === true
  return {
    isPresence: features?.has('presence') === true,
    takesRequests,
    async send(request, signal) {
      signal.throwIfAborted()
      if (!takesRequests()) {
        throw new TunnelClosedError(endReason() ?? 'the hub takes no requests', { isSent: false })
      }
      if (streams.isBusy) throw new TunnelBusyError('Cannot send request: the tunnel takes no more')
      const head = requestHead(request, undefined, limits)
      const stream = streams.open(head, request.body === undefined)
      followSignal(stream, signal)
      return exchange(stream, request, asker, signal)
    },
  }
}

function reportRules({ rate }: TrafficRules, log: Logger): void {
  if (rate) log.info('Tunnel sends at a rate', { ...rate })
  else log.info('Tunnel sends without a rate')
}

interface ServeContext extends SessionDeps {
  handler: TunnelHandler
  limits: TunnelLimits
}

/** Answers a request that came over a stream. Never throws. */
export function serveStream(
  stream: TunnelStream,
  head: readonly string[],
  context: ServeContext,
): void {
  const abort = new AbortController()
  let isAnswered = false
  stream.whenOver(() => {
    // An abort creates errors with stacks, so it happens only if something must stop.
    const isOver = isAnswered || !stream.isCut
    if (!isOver) abort.abort(new TunnelStreamError('Cannot go on: the caller is gone'))
  })
  answerStream(stream, head, context, abort.signal).then(
    () => (isAnswered = true),
    (error: unknown) => {
      if (!abort.signal.aborted) refuse(stream, error, context.log)
    },
  )
}

async function answerStream(
  stream: TunnelStream,
  head: readonly string[],
  context: ServeContext,
  signal: AbortSignal,
): Promise<void> {
  const { handler, limits } = context
  const { request, protocol } = parseRequest(head, limits)
  if (context.classify) {
    stream.setTrafficClass(context.classify(request, protocol !== undefined))
  }
  if (protocol === undefined) {
    const body = stream.hasArrived ? undefined : readableOf(stream)
    const asked = body ? { ...request, body } : request
    await sendAnswer(stream, await handler.onRequest(asked, signal), limits)
    if (body) dropRest(body)
    return
  }
  const answer = await handler.onUpgrade(request, signal)
  if (!isSwitched(answer)) return sendAnswer(stream, answer, limits)
  if (stream.isOver) {
    answer.stream.destroy()
    return
  }
  const { upgrade } = answer.headers
  const switched = typeof upgrade === 'string' ? upgrade : protocol
  stream.answer(switchedHead(switched, answer.headers, limits))
  await joinStreams(duplexOf(stream), answer.stream)
}

async function sendAnswer(
  stream: TunnelStream,
  answer: TunnelResponse,
  limits: TunnelLimits,
): Promise<void> {
  const { status, headers, body } = answer
  const head = answerHead(status, headers, limits)
  if (body instanceof WholeBody) return sendWhole(stream, head, body.bytes)
  const length = Number(headers['content-length'])
  if (!(body instanceof Readable) || !(length <= wholeBytesMax)) {
    stream.answer(head)
    return sendBody(body, stream)
  }
  sendWhole(stream, head, await readWhole(body))
}

/** Sends everything in one turn, and so in one message. */
function sendWhole(stream: TunnelStream, head: readonly string[], bytes: Uint8Array): void {
  stream.answer(head)
  stream.write(bytes)
  stream.end()
}

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

/** Discards the rest of a request after its answer; cuts off a long rest. */
function dropRest(body: Readable): void {
  let bytes = 0
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length
    if (bytes > dropBytesMax) body.destroy()
  })
  body.resume()
}

const { dropBytesMax } = tunnelBounds.agentSession

function refuse(stream: TunnelStream, error: unknown, log: Logger): void {
  const cause = asError(error)
  const status = error instanceof BadMessageError ? error.status : 502
  log.debug('Tunnel request failed', { error: cause })
  // A partial answer must not look complete.
  if (stream.isAnswered) return stream.reset(resetCodes.internal)
  stream.answer([String(status), '', 'content-type', 'text/plain; charset=utf-8'])
  stream.write(Buffer.from(`${cause.message}\n`))
  stream.end()
}
