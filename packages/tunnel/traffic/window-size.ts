import { LeastRoundTrip } from './least-round-trip.ts'
import { windowBounds } from '../limits-table.ts'

/** The result of a mark: it was sent behind `bytesAhead` unacknowledged bytes, and its answer took `delayMs`. */
export interface MarkReport {
  readonly number: number
  readonly bytesAhead: number
  readonly delayMs: number
  /** The other end sends much, too: its part of the delay was subtracted, and the rest is approximate. */
  readonly isTwoWay: boolean
}

/** The window was made smaller by this report, from `fromBytes`; no mark after `lastNumber` was sent before that. */
interface Narrowing {
  readonly fromBytes: number
  readonly report: MarkReport
  readonly lastNumber: number
}

/**
 * Decides how many bytes may be in flight: as many as take the least round trip plus `standingMs`. The size
 * doubles each round trip while there is no delay, and shrinks when there is twice the allowed delay. If the
 * delay stays although much less is in flight, its cause is elsewhere (other traffic, a peer without CPU
 * time, a longer way): then the window opens again, and the delay counts as the way's own for `doubtMs`.
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

  /** Records the round trip of any ping: one on an idle link measures the way best. */
  onRoundTrip(ms: number, nowMs: number): void {
    this.#least.add(ms, nowMs)
  }

  /** Starts over: after a long pause the link may be another one. */
  restart(): void {
    this.#bytes = Math.min(this.#bytes, windowBounds.startBytes)
    this.#narrowing = undefined
  }

  /**
   * Records a mark. `wasFull` is set if bytes had to wait since the last change; `lastNumber` is that of the
   * last mark sent.
   */
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
    // On a long way a fraction of it would be a small step, above all next to a delay that is not ours.
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

/**
 * Judges the effect of sending less: the delay of our own queue shrinks with it. If much less was sent and
 * the delay stayed, the queue is not ours.
 */
function effectOf(before: MarkReport, after: MarkReport): 'some' | 'none' | 'unknown' {
  const part = after.bytesAhead / before.bytesAhead
  const delayPart = after.delayMs / before.delayMs
  // The link itself has become slower.
  if (delayPart > 1.25) return 'some'
  if (part > 0.9) return 'unknown'
  return delayPart > (1 + part) / 2 ? 'none' : 'some'
}
