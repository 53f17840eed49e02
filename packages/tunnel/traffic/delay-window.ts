import { LeastRoundTrip } from './least-round-trip.ts'
import { pingPayload, pingSentMs } from './ping-payload.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import { WindowSize } from './window-size.ts'

/** Marks that have not been answered yet. */
const marksMax = 16
/** Of a window: what is sent between two marks. */
const markParts = 4
const markEveryMs = 2
const messageBytesMin = 1_024
/** Nothing much was sent for so long: what is known of the link may be of another one. */
const pauseMs = 60_000
const markPrefix = 'w'

interface Mark {
  readonly number: number
  readonly payload: string
  readonly atMs: number
  /** Of the link, at the mark. */
  readonly bytesOut: number
  readonly bytesAhead: number
}

/** What the answer to a ping proves. */
export interface PingProof {
  readonly rttMs: number
  /** That many bytes of the link have arrived. */
  readonly bytesOut: number
}

/**
 * Keeps the bytes on their way, which nobody can overtake any more, to what the link carries at once
 * (ADR 24). The kernel takes megabytes on a thin link; so marks go along, pings that the other end of any version
 * answers, and tell how much has arrived and how long it took. Until the first ping was answered
 * there is no window: a peer that answers none is sent to as fast as the kernel takes it.
 */
export class DelayWindow {
  readonly #link: Pick<TunnelLink, 'ping' | 'bytesOut'>
  readonly #size = new WindowSize()
  #marks: Mark[] = []
  #number = 0
  #marked: { readonly atMs: number; readonly bytesOut: number }
  #provenBytes = 0
  readonly #wayBack = new LeastRoundTrip()
  /** What the other end's last ping stood on the way, behind what that end sends. */
  #standing = { ms: 0, atMs: 0 }
  #isAnswered = false
  #wasFull = false

  constructor(link: Pick<TunnelLink, 'ping' | 'bytesOut'>, nowMs: number) {
    this.#link = link
    this.#marked = { atMs: nowMs, bytesOut: link.bytesOut }
  }

  /** What one message may take at most. */
  get messageBytesMax(): number {
    if (!this.#isAnswered) return Infinity
    return Math.max(messageBytesMin, Math.floor(this.#size.bytes / markParts))
  }

  get bytesAhead(): number {
    return this.#link.bytesOut - this.#provenBytes
  }

  /** Somebody has something to send: may it go? */
  admit(): boolean {
    if (!this.#isAnswered || this.bytesAhead < this.#size.bytes) return true
    this.#wasFull = true
    return false
  }

  /** The link was given something. */
  onSent(nowMs: number): void {
    if (!this.#isAnswered) return
    const sinceBytes = this.#link.bytesOut - this.#marked.bytesOut
    const sinceMs = nowMs - this.#marked.atMs
    const isDue = sinceBytes >= this.#size.bytes / markParts && sinceMs >= markEveryMs
    if (isDue && sinceMs >= pauseMs) this.#size.restart()
    // Who waits for the window waits for a mark's answer.
    const isNeeded = this.#marks.length === 0 && this.bytesAhead >= this.#size.bytes
    if (isNeeded || (isDue && this.#marks.length < marksMax)) this.#mark(nowMs)
  }

  /** A ping that was no mark was answered. */
  onProof({ rttMs, bytesOut }: PingProof, nowMs: number): void {
    this.#isAnswered = true
    this.#size.onRoundTrip(rttMs, nowMs)
    // Who answers the newest ping only has heard those before it (RFC 6455, 5.5.3).
    this.#marks = this.#marks.filter((mark) => mark.bytesOut > bytesOut)
    this.#prove(bytesOut, nowMs)
  }

  /** The two clocks differ, by what is in all of these times; what is more than the least of them is delay. */
  onPing(payload: string, nowMs: number): void {
    const sentMs = pingSentMs(payload)
    if (sentMs === undefined) return
    const tookMs = nowMs - sentMs
    this.#wayBack.add(tookMs, nowMs)
    // Only who has much on its way marks it; other pings tell how long the way is.
    if (!payload.startsWith(markPrefix)) return
    this.#standing = { ms: tookMs - this.#wayBack.ms(nowMs), atMs: nowMs }
  }

  onPong(payload: string, nowMs: number): void {
    const at = this.#marks.findIndex((each) => each.payload === payload)
    const mark = this.#marks[at]
    if (mark === undefined) return
    this.#marks.splice(0, at + 1)
    const tookMs = nowMs - mark.atMs
    // What the answer stood behind on its way back is the other end's to shorten.
    const isTwoWay = this.#standing.atMs >= mark.atMs && this.#standing.ms > 0
    const delayMs = isTwoWay ? Math.max(0, tookMs - this.#standing.ms) : tookMs
    const report = { ...mark, delayMs, isTwoWay }
    const before = this.#size.bytes
    const sent = { wasFull: this.#wasFull, lastNumber: this.#number }
    this.#size.onRoundTrip(tookMs, nowMs)
    this.#size.onMark(report, sent, nowMs)
    if (this.#size.bytes !== before) this.#wasFull = false
    this.#prove(mark.bytesOut, nowMs)
  }

  #prove(bytesOut: number, nowMs: number): void {
    this.#provenBytes = Math.max(this.#provenBytes, bytesOut)
    this.onSent(nowMs)
  }

  #mark(nowMs: number): void {
    const { bytesOut } = this.#link
    this.#number += 1
    this.#marked = { atMs: nowMs, bytesOut }
    const { bytesAhead } = this
    const payload = pingPayload(markPrefix + this.#number, nowMs)
    this.#marks.push({ number: this.#number, payload, atMs: nowMs, bytesOut, bytesAhead })
    this.#link.ping(payload)
  }
}
