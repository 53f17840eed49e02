import { LeastRoundTrip } from './least-round-trip.ts'

/** All in bytes or milliseconds. */
export const windowBounds = Object.freeze({
  /** As much as TCP sends at first, too: a round trip later it is twice that. */
  startBytes: 16_384,
  /** At 64 kbit/s these take half a second. */
  leastBytes: 4_096,
  /** What all streams of a tunnel may have on their way. */
  mostBytes: 67_108_864,
  /** What is sent may stand so long on the way, or half a round trip where that is more. */
  standingMs: 250,
  /** After so long a delay that was not ours is asked about again. */
  doubtMs: 120_000,
})

/** What a mark told: it was sent behind `bytesAhead` that had not been heard of, and its answer took `delayMs`. */
export interface MarkReport {
  readonly number: number
  readonly bytesAhead: number
  readonly delayMs: number
  /** The other end sends much, too: its part of the delay was taken off, and what is left is rough. */
  readonly isTwoWay: boolean
}

/** The window was made smaller by this report, from `fromBytes`; no mark after `lastNumber` was sent before that. */
interface Narrowing {
  readonly fromBytes: number
  readonly report: MarkReport
  readonly lastNumber: number
}

/**
 * How much may be on its way: what takes the least round trip and `standingMs` more. It is doubled each round trip
 * while there is no delay, and made smaller when there is twice as much as may be. Where the delay stays as
 * it was although much less is on its way, it is not ours (other traffic, a peer without processor time, a
 * longer way): then the window opens again, and the delay counts as the way's own for `doubtMs`.
 */
export class WindowSize {
  readonly #least = new LeastRoundTrip()
  #bytes: number = windowBounds.startBytes
  #foreign: { readonly delayMs: number; readonly untilMs: number } | undefined
  #narrowing: Narrowing | undefined
  /** Marks up to this one were sent before the window grew last. */
  #grownAt = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Of anything: a ping on an idle link says best how long the way is. */
  onRoundTrip(ms: number, nowMs: number): void {
    this.#least.add(ms, nowMs)
  }

  /** After a long pause the link may be another one. */
  restart(): void {
    this.#bytes = Math.min(this.#bytes, windowBounds.startBytes)
    this.#narrowing = undefined
  }

  /** `wasFull`: something had to wait since the last change. `lastNumber`: of the mark that was sent last. */
  onMark(report: MarkReport, sent: { wasFull: boolean; lastNumber: number }, nowMs: number): void {
    const leastMs = this.#least.ms(nowMs)
    if (this.#foreign && this.#foreign.untilMs <= nowMs) this.#foreign = undefined
    const standingMs = Math.max(windowBounds.standingMs, leastMs / 2)
    const wantedMs = (this.#foreign?.delayMs ?? leastMs) + standingMs
    if (report.delayMs > wantedMs + standingMs) {
      return this.#onLate(report, { wantedMs, nowMs, lastNumber: sent.lastNumber })
    }
    this.#narrowing = undefined
    const isNews = report.number > this.#grownAt
    if (!sent.wasFull || !isNews || report.delayMs >= wantedMs) return
    this.#grownAt = sent.lastNumber
    // On a long way a part of it would be little, beside a delay that is not ours above all.
    const least = report.delayMs < wantedMs - standingMs / 2 ? 1.25 : 1
    const factor = Math.min(2, Math.max(least, wantedMs / Math.max(leastMs, report.delayMs)))
    this.#bytes = Math.min(this.#bytes * factor, windowBounds.mostBytes)
  }

  #onLate(report: MarkReport, { wantedMs, nowMs, lastNumber }: Lateness): void {
    const { leastBytes, startBytes, doubtMs } = windowBounds
    const { bytesAhead, delayMs, number, isTwoWay } = report
    const narrowing = this.#narrowing
    const isAfter = number > (narrowing?.lastNumber ?? 0)
    const isFew = bytesAhead < this.#bytes / 2
    const least = isFew ? startBytes : leastBytes
    const bytes = Math.max(least, (bytesAhead * wantedMs) / delayMs)
    const effect = narrowing && isAfter ? effectOf(narrowing.report, report) : 'unknown'
    const isInVain = effect === 'none' || (isAfter && this.#bytes <= leastBytes)
    if (isInVain && !isTwoWay) {
      this.#foreign = { delayMs, untilMs: nowMs + doubtMs }
      this.#bytes = Math.max(this.#bytes, narrowing?.fromBytes ?? 0)
      this.#narrowing = undefined
    } else if (bytes < this.#bytes) {
      const fromBytes = narrowing?.fromBytes ?? this.#bytes
      const isSmallStep = narrowing !== undefined && isAfter && effect === 'unknown'
      this.#narrowing = { fromBytes, report: isSmallStep ? narrowing.report : report, lastNumber }
      this.#bytes = bytes
    }
  }
}

interface Lateness {
  readonly wantedMs: number
  readonly nowMs: number
  readonly lastNumber: number
}

/** What stands in our own queue shrinks with what we send; where much less was sent and the delay stayed, it is not ours. */
function effectOf(before: MarkReport, after: MarkReport): 'some' | 'none' | 'unknown' {
  const part = after.bytesAhead / before.bytesAhead
  const delayPart = after.delayMs / before.delayMs
  // The link itself has become slower.
  if (delayPart > 1.25) return 'some'
  if (part > 0.9) return 'unknown'
  return delayPart > (1 + part) / 2 ? 'none' : 'some'
}
