import type { Clock, Timer } from '@skerry/base'
import { ByteMeter, type ByteRates } from './byte-rate.ts'
import type { PingProof } from './delay-window.ts'
import { LinkPings } from './link-pings.ts'
import type { TunnelLink } from './tunnel-link.ts'
import type { TunnelLimits } from './tunnel-limits.ts'

export interface LinkHealth extends Disposable {
  /** Round trip of pings, smoothed as TCP does (RFC 6298, 2); absent before the first answer. */
  readonly rttMs: number | undefined
  /** Over about the last `pingMs`. */
  readonly byteRates: ByteRates
  /** Pings now and waits for that answer. */
  ping(signal: AbortSignal): Promise<number>
  /** When anything was heard last, by the clock's monotonic time. */
  readonly heardMs: number
  /** Sent since the newest ping that was answered: that much may still be on its way. */
  readonly unprovenBytes: number
  /** Pings now; what comes of it shows in `heardMs`. */
  probe(): void
}

export interface LinkEvents {
  onDead(silentMs: number): void
  /** Hears of all pings; absent: nobody does. */
  readonly pings?: {
    /** The other end's. */
    onPing(payload: string): void
    /** `proof` where a ping was answered that was sent here. */
    onPong(payload: string, proof: PingProof | undefined): void
  }
}

/**
 * Pings from this end and ends the link when nothing at all was heard for `deadMs`. Both ends do
 * so: a NAT that forgot the flow makes each of them deaf, and neither hears of it otherwise.
 */
export function watchLink(
  link: TunnelLink,
  limits: Pick<TunnelLimits, 'pingMs' | 'deadMs'>,
  clock: Clock,
  events: LinkEvents,
): LinkHealth {
  let heardMs = clock.monotonicMs()
  let timer: Timer | undefined
  const pings = new LinkPings(link, clock)
  const meter = new ByteMeter(link, ticksPerPing + 1, heardMs)
  let bytesHeard = link.bytesHeard
  let pingedMs = heardMs
  const lastHeardMs = (): number => {
    // A large message on a slow link is heard in parts, long before it is whole.
    if (link.bytesHeard !== bytesHeard) heardMs = clock.monotonicMs()
    bytesHeard = link.bytesHeard
    return heardMs
  }
  const tick = (): void => {
    const nowMs = clock.monotonicMs()
    lastHeardMs()
    meter.sample(nowMs)
    if (nowMs - heardMs >= limits.deadMs) return events.onDead(nowMs - heardMs)
    if (nowMs - pingedMs >= limits.pingMs) {
      pingedMs = nowMs
      pings.send()
    }
    timer = clock.setTimer(tickMs, tick)
  }
  link.listen({
    onHeard() {
      heardMs = clock.monotonicMs()
      bytesHeard = link.bytesHeard
    },
    onPing: (payload) => events.pings?.onPing(payload),
    onPong(payload) {
      const proof = pings.onPong(payload)
      events.pings?.onPong(payload, proof)
    },
  })
  // So that the round trip is known from the start, not after the first pause.
  pings.send()
  const tickMs = limits.pingMs / ticksPerPing
  timer = clock.setTimer(tickMs, tick)
  return {
    get rttMs() {
      return pings.rttMs
    },
    get byteRates() {
      return meter.rates(clock.monotonicMs())
    },
    ping: (signal) => pings.measure(signal),
    get heardMs() {
      return lastHeardMs()
    },
    get unprovenBytes() {
      return link.bytesOut - pings.provenBytes
    },
    probe: () => void pings.send(),
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  }
}

/** So that a dead link is found at most a quarter of `pingMs` late. */
const ticksPerPing = 4
