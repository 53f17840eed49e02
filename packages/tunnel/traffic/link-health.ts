import type { Clock, Timer } from '@skerry/base'
import { ByteMeter, type ByteRates } from './byte-rate.ts'
import type { PingProof } from './delay-window.ts'
import { LinkPings } from './link-pings.ts'
import type { LinkListener, TunnelLink } from '../frame/tunnel-link.ts'
import { type TunnelLimits } from '../limits-table.ts'

export interface LinkHealth extends Disposable {
  /** The round trip of pings, smoothed like TCP's (RFC 6298, 2); undefined before the first answer. */
  readonly rttMs: number | undefined
  /** The rates over about the last `pingMs`. */
  readonly byteRates: ByteRates
  /** Pings now and resolves with the round trip of the answer. */
  ping(signal: AbortSignal): Promise<number>
  /** The time at which anything was last heard, on the monotonic clock. */
  readonly heardMs: number
  /** Bytes sent since the newest answered ping, which may still be in flight. */
  readonly unprovenBytes: number
  /** Pings now; the result shows in `heardMs`. */
  probe(): void
}

export interface LinkEvents {
  onDead(silentMs: number): void
  /** Receives all pings. If omitted, nothing does. */
  readonly pings?: {
    /** The other end's. */
    onPing(payload: string): void
    /** Called for a pong; `proof` is set if it answers a ping that was sent here. */
    onPong(payload: string, proof: PingProof | undefined): void
  }
}

/**
 * Pings from this end and ends the link when nothing at all was heard for `deadMs`. Both ends do so: a NAT
 * that forgot the flow drops the packets of both, and neither notices otherwise.
 */
export function watchLink(
  link: TunnelLink,
  limits: Pick<TunnelLimits, 'pingMs' | 'deadMs'>,
  clock: Clock,
  events: LinkEvents,
): LinkHealth {
  return new WatchedLink(link, limits, clock, events)
}

/** Finds a dead link at most a quarter of `pingMs` late. */
const ticksPerPing = 4

class WatchedLink implements LinkHealth, LinkListener {
  readonly #link: TunnelLink
  readonly #limits: Pick<TunnelLimits, 'pingMs' | 'deadMs'>
  readonly #clock: Clock
  readonly #events: LinkEvents
  readonly #pings: LinkPings
  readonly #meter: ByteMeter
  #heardMs: number
  #bytesHeard: number
  #pingedMs: number
  #timer: Timer | undefined

  constructor(
    link: TunnelLink,
    limits: Pick<TunnelLimits, 'pingMs' | 'deadMs'>,
    clock: Clock,
    events: LinkEvents,
  ) {
    this.#link = link
    this.#limits = limits
    this.#clock = clock
    this.#events = events
    this.#heardMs = clock.monotonicMs()
    this.#pingedMs = this.#heardMs
    this.#bytesHeard = link.bytesHeard
    this.#pings = new LinkPings(link, clock)
    this.#meter = new ByteMeter(link, ticksPerPing + 1, this.#heardMs)
    link.listen(this)
    // This measures the round trip from the start, not only after the first pause.
    this.#pings.send()
    this.#wait()
  }

  get rttMs(): number | undefined {
    return this.#pings.rttMs
  }
  get byteRates(): ByteRates {
    return this.#meter.rates(this.#clock.monotonicMs())
  }
  get heardMs(): number {
    // A large message on a slow link is heard in parts, long before it is whole.
    if (this.#link.bytesHeard !== this.#bytesHeard) this.onHeard()
    return this.#heardMs
  }
  get unprovenBytes(): number {
    return this.#link.bytesOut - this.#pings.provenBytes
  }

  ping(signal: AbortSignal): Promise<number> {
    return this.#pings.measure(signal)
  }

  probe(): void {
    this.#pings.send()
  }

  onHeard(): void {
    this.#heardMs = this.#clock.monotonicMs()
    this.#bytesHeard = this.#link.bytesHeard
  }

  onPing(payload: string): void {
    this.#events.pings?.onPing(payload)
  }

  onPong(payload: string): void {
    const proof = this.#pings.onPong(payload)
    this.#events.pings?.onPong(payload, proof)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
  }

  #wait(): void {
    this.#timer = this.#clock.setTimer(this.#limits.pingMs / ticksPerPing, () => this.#look())
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs()
    const { pingMs, deadMs } = this.#limits
    const silentMs = nowMs - this.heardMs
    this.#meter.sample(nowMs)
    if (silentMs >= deadMs) return this.#events.onDead(silentMs)
    if (nowMs - this.#pingedMs >= pingMs) {
      this.#pingedMs = nowMs
      this.#pings.send()
    }
    this.#wait()
  }
}
