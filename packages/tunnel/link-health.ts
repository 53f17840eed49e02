import type { Clock, Timer } from '@skerry/base'
import type { TunnelLink } from './tunnel-link.ts'
import type { TunnelLimits } from './tunnel-limits.ts'

export interface LinkHealth extends Disposable {
  /** Round trip of the newest answered ping; absent before the first. */
  readonly rttMs: number | undefined
  /** Pings now and waits for that answer. */
  ping(signal: AbortSignal): Promise<number>
  /** When anything was heard last, by the clock's monotonic time. */
  readonly heardMs: number
  /** Sent since the newest ping that was answered: that much may still be on its way. */
  readonly unprovenBytes: number
  /** Pings now; what comes of it shows in `heardMs`. */
  probe(): void
}

/**
 * Pings from this end and ends the link when nothing at all was heard for `deadMs`. Both ends do
 * so: a NAT that forgot the flow makes each of them deaf, and neither hears of it otherwise.
 */
export function watchLink(
  link: TunnelLink,
  limits: Pick<TunnelLimits, 'pingMs' | 'deadMs'>,
  clock: Clock,
  onDead: (silentMs: number) => void,
): LinkHealth {
  let heardMs = clock.monotonicMs()
  let rttMs: number | undefined
  let sequence = 0
  let timer: Timer | undefined
  let provenBytes = link.bytesOut
  const sent = new Map<string, { readonly atMs: number; readonly bytesOut: number }>()
  const waiting = new Map<string, (rttMs: number) => void>()
  const send = (): string => {
    const payload = String((sequence += 1))
    sent.set(payload, { atMs: clock.monotonicMs(), bytesOut: link.bytesOut })
    // Older ones will not be answered any more; pings without answers must not pile up.
    const oldest = sent.keys().next().value
    if (sent.size > pingsMax && oldest !== undefined) sent.delete(oldest)
    link.ping(payload)
    return payload
  }
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
    if (nowMs - heardMs >= limits.deadMs) return onDead(nowMs - heardMs)
    if (nowMs - pingedMs >= limits.pingMs) {
      pingedMs = nowMs
      send()
    }
    timer = clock.setTimer(tickMs, tick)
  }
  link.listen({
    onHeard() {
      heardMs = clock.monotonicMs()
      bytesHeard = link.bytesHeard
    },
    onPong: (payload) => {
      const ping = sent.get(payload)
      if (ping === undefined) return
      sent.delete(payload)
      provenBytes = Math.max(provenBytes, ping.bytesOut)
      rttMs = clock.monotonicMs() - ping.atMs
      waiting.get(payload)?.(rttMs)
    },
  })
  const tickMs = limits.pingMs / ticksPerPing
  timer = clock.setTimer(tickMs, tick)
  return {
    get rttMs() {
      return rttMs
    },
    ping: (signal) => answered(waiting, send, signal),
    get heardMs() {
      return lastHeardMs()
    },
    get unprovenBytes() {
      return link.bytesOut - provenBytes
    },
    probe: () => void send(),
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  }
}

const pingsMax = 16
/** So that a dead link is found at most a quarter of `pingMs` late. */
const ticksPerPing = 4

function answered(
  waiting: Map<string, (rttMs: number) => void>,
  send: () => string,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const payload = send()
    const onAbort = (): void => {
      waiting.delete(payload)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    waiting.set(payload, (rttMs) => {
      signal.removeEventListener('abort', onAbort)
      waiting.delete(payload)
      resolve(rttMs)
    })
  })
}
