import type { Clock, Timer } from '@skerry/base'
import type { TunnelLink } from './tunnel-link.ts'
import type { TunnelLimits } from './tunnel-limits.ts'

export interface LinkHealth extends Disposable {
  /** Round trip of the newest answered ping; absent before the first. */
  readonly rttMs: number | undefined
  /** Pings now and waits for that answer. */
  ping(signal: AbortSignal): Promise<number>
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
  const sentMs = new Map<string, number>()
  const waiting = new Map<string, (rttMs: number) => void>()
  const send = (): string => {
    const payload = String((sequence += 1))
    sentMs.set(payload, clock.monotonicMs())
    // Older ones will not be answered any more; pings without answers must not pile up.
    const oldest = sentMs.keys().next().value
    if (sentMs.size > pingsMax && oldest !== undefined) sentMs.delete(oldest)
    link.ping(payload)
    return payload
  }
  let bytesHeard = link.bytesHeard
  let pingedMs = heardMs
  const tick = (): void => {
    const nowMs = clock.monotonicMs()
    // A large message on a slow link is heard in parts, long before it is whole.
    if (link.bytesHeard !== bytesHeard) heardMs = nowMs
    bytesHeard = link.bytesHeard
    if (nowMs - heardMs >= limits.deadMs) return onDead(nowMs - heardMs)
    if (nowMs - pingedMs >= limits.pingMs) {
      pingedMs = nowMs
      send()
    }
    timer = clock.setTimer(tickMs, tick)
  }
  link.listen({
    onHeard: () => (heardMs = clock.monotonicMs()),
    onPong: (payload) => {
      const startMs = sentMs.get(payload)
      if (startMs === undefined) return
      sentMs.delete(payload)
      rttMs = clock.monotonicMs() - startMs
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
