import type { Timer } from '@skerry/base'
import { serveStream, type SessionDeps, type TunnelHandler } from './agent-session.ts'
import type { ByteRates } from '../traffic/byte-rate.ts'
import { AnswerProbe } from './answer-probe.ts'
import { watchLink, type LinkHealth } from '../traffic/link-health.ts'
import { Multiplexer, type MultiplexerEvents } from './multiplexer.ts'
import {
  answerOf,
  exchange,
  followSignal,
  streamFault,
  withoutBody,
  type Asker,
} from './asked-stream.ts'
import { duplexOf } from './stream-adapter.ts'
import { resetCodes } from '../frame/tunnel-frame.ts'
import { requestHead } from '../frame/tunnel-head.ts'
import type { TrafficBytes } from '../traffic/traffic-meter.ts'
import { defaultTrafficRules, type TrafficRules } from '../traffic/traffic-rules.ts'
import { validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import { TunnelBusyError, TunnelClosedError } from '../frame/tunnel-message.ts'
import type { TunnelRequest, TunnelResponse, TunnelUpgraded } from '../frame/tunnel-message.ts'
import type { TunnelStream } from './tunnel-stream.ts'
import { type TunnelLimits } from '../limits-table.ts'

/** The sending rules of both ends of a tunnel. */
export interface TunnelTraffic {
  readonly toAgent: TrafficRules
  readonly toHub: TrafficRules
}

export interface AcceptOptions {
  limits?: Partial<TunnelLimits>
  /** Answers the agent's own requests. If omitted, it must not send any. */
  handler?: TunnelHandler
}

/** The hub's end of one tunnel. Requests go to the agent, which answers from its side. */
export interface TunnelSession {
  /**
   * Resolves with the answer's headers; its body then comes as it is read. Read every body or abort the
   * signal: an unread one holds its stream. Rejects with BadMessageError, PeerAnswerError, TunnelBusyError,
   * TunnelClosedError, TunnelStreamError or the signal's reason.
   */
  send(request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse>
  /** Sends a request with an `upgrade` header, such as SPDY/3.1 or websocket. */
  upgrade(request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded>
  /** Milliseconds there and back, measured now. */
  ping(signal: AbortSignal): Promise<number>
  /** The smoothed round-trip time of its pings; undefined before the first answer. */
  readonly rttMs: number | undefined
  readonly bytesIn: number
  readonly bytesOut: number
  /** The rates over about the last ten seconds. */
  readonly byteRates: ByteRates
  /** The time at which it was opened, in milliseconds since the epoch. */
  readonly openedAtMs: number
  /** The time for which nothing was heard from the agent. */
  readonly silentMs: number
  /** Open right now. */
  readonly streams: number
  /** Bytes received and not read yet, in all streams. */
  readonly bufferedBytes: number
  /** Bytes to send, in all streams, that the network has not taken yet. */
  readonly queuedBytes: number
  /** False once it is closing, and while its agent does not answer: send() would be refused. */
  readonly isOpen: boolean
  /** Why it is not open; undefined while it is. */
  readonly endReason: string | undefined
  /**
   * The rule of the protocol whose violation by the agent ended it; undefined if it is open, or ended
   * otherwise.
   */
  readonly brokenRule: string | undefined
  /** Resolves with the reason of the end; never rejects. */
  readonly closed: Promise<string>
  /** Bytes since it began, by class; `sent` went to the agent. */
  readonly traffic: TrafficBytes
  /** False if its agent is of a version that ignores traffic rules and sends as fast as it can. */
  readonly obeysTraffic: boolean
  readonly rules: TunnelTraffic
  /** Sets how both ends send from now on, including what waits. */
  setTraffic(rules: TunnelTraffic): void
  /** Ends it at once. */
  close(reason: string): void
  /** Lets open streams finish for at most `drainMs`; the agent dials again meanwhile. */
  drain(reason: string): void
}

/** Takes a link that an agent dialled. Call it in the turn in which the link was made. */
export function acceptTunnel(
  link: TunnelLink,
  options: AcceptOptions,
  deps: SessionDeps,
): TunnelSession {
  return new HubSession(link, { ...options, limits: validateTunnelLimits(options.limits) }, deps)
}

class HubSession implements TunnelSession {
  readonly closed: Promise<string>
  readonly openedAtMs: number
  readonly #link: TunnelLink
  readonly #limits: TunnelLimits
  readonly #deps: SessionDeps
  readonly #streams: Multiplexer
  readonly #health: LinkHealth
  readonly #probe: AnswerProbe<TunnelStream>
  readonly #asker: Asker
  #rules: TunnelTraffic = { toAgent: defaultTrafficRules, toHub: defaultTrafficRules }
  #reason: string | undefined
  #fault: string | undefined
  #drainTimer: Timer | undefined

  constructor(
    link: TunnelLink,
    { limits, handler }: { readonly limits: TunnelLimits; readonly handler?: TunnelHandler },
    deps: SessionDeps,
  ) {
    this.#link = link
    this.#limits = limits
    this.#deps = deps
    this.openedAtMs = deps.clock.now()
    const takesRequests = handler !== undefined && link.features?.has('requests') === true
    const events: MultiplexerEvents = {
      ...(takesRequests
        ? { onOpen: (stream, head) => serveStream(stream, head, { handler, limits, ...deps }) }
        : {}),
      onGoAway: () => (this.#reason ??= 'the agent is leaving'),
      onFault: (error) => {
        this.#fault ??= error.message
        this.#end(`protocol failed: ${error.message}`)
      },
    }
    this.#streams = new Multiplexer(link, limits, events, { ...deps, end: 'hub' })
    this.#health = watchLink(link, limits, deps.clock, {
      onDead: (ms) => this.#end(`nothing heard for ${Math.round(ms / 1_000)} s`),
      pings: this.#streams,
    })
    this.#probe = new AnswerProbe(limits, this.#health, deps.clock, (streams) =>
      this.#failSilent(streams),
    )
    this.#asker = { peer: 'the agent', endReason: () => this.#reason, probe: this.#probe }
    this.closed = link.closed.then((linkReason) => this.#onLinkClosed(linkReason))
  }

  get rttMs(): number | undefined {
    return this.#health.rttMs
  }
  get bytesIn(): number {
    return this.#link.bytesIn
  }
  get bytesOut(): number {
    return this.#link.bytesOut
  }
  get byteRates(): ByteRates {
    return this.#health.byteRates
  }
  get silentMs(): number {
    return this.#deps.clock.monotonicMs() - this.#health.heardMs
  }
  get streams(): number {
    return this.#streams.count
  }
  get bufferedBytes(): number {
    return this.#streams.bufferedBytes
  }
  get queuedBytes(): number {
    return this.#streams.queuedBytes
  }
  get endReason(): string | undefined {
    return this.#reason ?? (this.#probe.isSilent ? this.#silence() : undefined)
  }
  get brokenRule(): string | undefined {
    return this.#fault ?? this.#link.brokenRule
  }
  get isOpen(): boolean {
    return this.#reason === undefined && !this.#probe.isSilent
  }

  get traffic(): TrafficBytes {
    return this.#streams.traffic
  }
  get obeysTraffic(): boolean {
    return this.#link.features?.has('traffic') === true
  }

  get rules(): TunnelTraffic {
    return this.#rules
  }

  setTraffic({ toAgent, toHub }: TunnelTraffic): void {
    this.#rules = { toAgent, toHub }
    this.#streams.setRules(toAgent)
    if (this.obeysTraffic) this.#streams.sendRules(toHub)
  }

  async send(request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse> {
    return exchange(this.#open(request, undefined, signal), request, this.#asker, signal)
  }

  async upgrade(request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded> {
    const protocol = request.headers['upgrade']
    if (typeof protocol !== 'string') {
      throw new RangeError('Cannot upgrade: the request names no protocol')
    }
    const stream = this.#open(request, protocol, signal)
    const asked = { method: request.method, protocol }
    const answer = await answerOf(stream, asked, this.#asker, signal)
    const { status, headers, hasBody, isSwitched } = answer
    if (!hasBody && !isSwitched) return withoutBody(stream, { status, headers })
    const bytes = duplexOf(stream, () => streamFault(stream, this.#asker, signal))
    if (isSwitched) return { status: 101, headers, stream: bytes }
    bytes.end()
    return { status, headers, body: bytes }
  }

  ping(signal: AbortSignal): Promise<number> {
    return this.#health.ping(signal)
  }

  close(reason: string): void {
    this.#reason ??= reason
    this.#link.close(reason)
    this.#streams.end()
  }

  drain(reason: string): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#streams.goAway(reason)
    this.#drainTimer = this.#deps.clock.setTimer(this.#limits.drainMs, () => this.close(reason))
    this.#streams.whenEmpty(() => this.#link.close(reason))
  }

  #open(request: TunnelRequest, protocol: string | undefined, signal: AbortSignal): TunnelStream {
    signal.throwIfAborted()
    if (!this.isOpen) throw new TunnelClosedError(this.endReason ?? 'it ended', { isSent: false })
    const { streamsMax } = this.#limits
    if (this.#streams.count >= streamsMax) {
      throw new TunnelBusyError(
        `Cannot send request: ${streamsMax} streams are open in this tunnel`,
      )
    }
    if (this.#streams.isBusy) {
      throw new TunnelBusyError('Cannot send request: the tunnel accepts no more requests now')
    }
    const head = requestHead(request, protocol, this.#limits)
    const isWhole = request.body === undefined && protocol === undefined
    const stream = this.#streams.open(head, isWhole)
    const { classify } = this.#deps
    if (classify) stream.setTrafficClass(classify(request, protocol !== undefined))
    followSignal(stream, signal)
    return stream
  }

  /** Streams whose answer has begun stay: a link that recovers slowly continues with them. */
  #failSilent(streams: readonly TunnelStream[]): void {
    const fault = new TunnelClosedError(this.#silence(), { isSent: true })
    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
  }

  #silence(): string {
    return `nothing heard for ${Math.round(this.silentMs / 1_000)} s`
  }

  #end(reason: string): void {
    this.#reason ??= reason
    this.#streams.end()
    this.#link.terminate()
  }

  #onLinkClosed(linkReason: string): string {
    this.#reason ??= linkReason
    this.#health[Symbol.dispose]()
    this.#probe[Symbol.dispose]()
    this.#drainTimer?.[Symbol.dispose]()
    this.#streams.end()
    return this.#reason
  }
}
