import { LeastRoundTrip } from './least-round-trip.ts'
import { pingPayload, pingSentMs } from './ping-payload.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import { WindowSize } from './window-size.ts'
import { tunnelBounds } from '../limits-table.ts'

const { marksMax, markEveryMs, messageBytesMin, pauseMs } = tunnelBounds.delayWindow
/** The fraction of a window that is sent between two marks. */
const markParts = 4
const markPrefix = 'w'

interface Mark {
  readonly number: number
  readonly payload: string
  readonly atMs: number
  /** The link's counters at the mark. */
  readonly bytesOut: number
  readonly bytesAhead: number
}

/** The facts that the answer to a ping proves. */
export interface PingProof {
  readonly rttMs: number
  /** This many bytes of the link have arrived. */
  readonly bytesOut: number
}

/**
 * Limits the bytes in flight, which nothing can overtake any more, to what the link carries at once (ADR 24).
 * The kernel buffers megabytes on a thin link, so marks are sent along: pings, which the other end of any
 * version answers, and which show how much has arrived and how long it took. Until the first ping was
 * answered there is no window: a peer that answers none is sent data as fast as the kernel takes it.
 */
export class DelayWindow {
  readonly #link: Pick<TunnelLink, 'ping' | 'bytesOut'>
  readonly #size = new WindowSize()
  #marks: Mark[] = []
  #number = 0
  #marked: { readonly atMs: number; readonly bytesOut: number }
  #provenBytes = 0
  readonly #wayBack = new LeastRoundTrip()
  /** The delay of the other end's last mark in that end's own queue. */
  #standing = { ms: 0, atMs: 0 }
  #isAnswered = false
  #wasFull = false

  constructor(link: Pick<TunnelLink, 'ping' | 'bytesOut'>, nowMs: number) {
    this.#link = link
    this.#marked = { atMs: nowMs, bytesOut: link.bytesOut }
  }

  /** The limit of one message. */
  get messageBytesMax(): number {
    if (!this.#isAnswered) return Infinity
    return Math.max(messageBytesMin, Math.floor(this.#size.bytes / markParts))
  }

  get bytesAhead(): number {
    return this.#link.bytesOut - this.#provenBytes
  }

  /** Reports whether waiting bytes may be sent. */
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
    // A sender that waits for the window needs the answer to a mark.
    const isNeeded = this.#marks.length === 0 && this.bytesAhead >= this.#size.bytes
    if (isNeeded || (isDue && this.#marks.length < marksMax)) this.#mark(nowMs)
  }

  /** Records the answer to a ping that was not a mark. */
  onProof({ rttMs, bytesOut }: PingProof, nowMs: number): void {
    this.#isAnswered = true
    this.#size.onRoundTrip(rttMs, nowMs)
    // A peer may answer only the newest ping; then it has received those before it (RFC 6455, 5.5.3).
    this.#marks = this.#marks.filter((mark) => mark.bytesOut > bytesOut)
    this.#prove(bytesOut, nowMs)
  }

  /**
   * Estimates the delay on the way back. All these times include the difference of the two clocks, so the
   * excess over the least of them is delay.
   */
  onPing(payload: string, nowMs: number): void {
    const sentMs = pingSentMs(payload)
    if (sentMs === undefined) return
    const tookMs = nowMs - sentMs
    this.#wayBack.add(tookMs, nowMs)
    // Only an end with much in flight sends marks; other pings measure the way.
    if (!payload.startsWith(markPrefix)) return
    this.#standing = { ms: tookMs - this.#wayBack.ms(nowMs), atMs: nowMs }
  }

  onPong(payload: string, nowMs: number): void {
    const at = this.#marks.findIndex((each) => each.payload === payload)
    const mark = this.#marks[at]
    if (mark === undefined) return
    this.#marks.splice(0, at + 1)
    const tookMs = nowMs - mark.atMs
    // The other end's queue delayed the answer, and it is that end's to shorten.
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
