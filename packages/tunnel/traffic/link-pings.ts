import { RecentMap, type Clock } from '@skerry/base'
import type { PingProof } from './delay-window.ts'
import { pingPayload } from './ping-payload.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import { tunnelBounds } from '../limits-table.ts'

const { pingsMax } = tunnelBounds.linkPings
/** The weight of what was known: one odd ping must not look like another link. */
const rttSmoothing = 8

/** Sends the pings of one end, and evaluates their answers. */
export class LinkPings {
  readonly #link: TunnelLink
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /**
   * Older pings than these will not be answered any more, and unanswered ones must not accumulate.
   */
  readonly #sent = new RecentMap<string, { readonly atMs: number; readonly bytesOut: number }>(
    pingsMax,
  )
  readonly #waiting = new Map<string, (rttMs: number) => void>()
  #sequence = 0
  #rttMs: number | undefined
  #provenBytes: number

  constructor(link: TunnelLink, clock: Pick<Clock, 'monotonicMs'>) {
    this.#link = link
    this.#clock = clock
    this.#provenBytes = link.bytesOut
  }

  /** The round trip, smoothed like TCP's (RFC 6298, 2); undefined before the first answer. */
  get rttMs(): number | undefined {
    return this.#rttMs
  }
  /** The bytes sent before the newest answered ping. */
  get provenBytes(): number {
    return this.#provenBytes
  }

  send(): string {
    const atMs = this.#clock.monotonicMs()
    const payload = pingPayload((this.#sequence += 1), atMs)
    this.#sent.set(payload, { atMs, bytesOut: this.#link.bytesOut })
    this.#link.ping(payload)
    return payload
  }

  /** Returns undefined if the payload answers none of these. */
  onPong(payload: string): PingProof | undefined {
    const ping = this.#sent.get(payload)
    if (ping === undefined) return undefined
    this.#sent.delete(payload)
    this.#provenBytes = Math.max(this.#provenBytes, ping.bytesOut)
    const newestMs = this.#clock.monotonicMs() - ping.atMs
    const known = this.#rttMs ?? newestMs
    this.#rttMs = known + (newestMs - known) / rttSmoothing
    this.#waiting.get(payload)?.(newestMs)
    return { rttMs: newestMs, bytesOut: ping.bytesOut }
  }

  /** Pings now and resolves with the unsmoothed round trip of the answer. */
  measure(signal: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const payload = this.send()
      const onAbort = (): void => {
        this.#waiting.delete(payload)
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.set(payload, (rttMs) => {
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(payload)
        resolve(rttMs)
      })
    })
  }
}
