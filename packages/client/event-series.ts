import type { EventsV1Event } from '@skerry/api'
import { eventLimits } from './event-correlator.ts'

/** Figures of upstream's recorder for events.k8s.io/v1. */
export const eventSeriesLimits = Object.freeze({
  /** A series that nothing was added to for so long is over, and what happened once is forgotten. */
  quietMs: 6 * 60_000,
  /** Events that go on are written so often, with how many there were; the server keeps them then. */
  refreshMs: 30 * 60_000,
})

/** What is to be written: a new event, or the series of one that was written before. */
export interface EventWrite {
  readonly event: EventsV1Event
  readonly isSeries: boolean
}

interface Known {
  event: EventsV1Event
  lastMs: number
}

/**
 * Events of which the same is told again and again, as KEP-383 has it: the first and the second are written,
 * the others are counted and written now and then. What is told may differ only in its note.
 */
export class EventSeries {
  readonly #known = new Map<string, Known>()

  /** Undefined: it is only counted. */
  add(event: EventsV1Event, nowMs: number): EventWrite | undefined {
    const key = seriesKey(event)
    const known = this.#known.get(key)
    if (known === undefined) {
      this.#known.set(key, { event, lastMs: nowMs })
      this.#forgetOldest()
      return { event, isSeries: false }
    }
    const isSecond = known.event.series === undefined
    const count = (known.event.series?.count ?? 1) + 1
    known.event = { ...known.event, series: { count, lastObservedTime: microTime(nowMs) } }
    known.lastMs = nowMs
    return isSecond ? { event: known.event, isSeries: true } : undefined
  }

  /** Every series, to be written again. */
  ongoing(): EventWrite[] {
    return [...this.#known.values()].flatMap(({ event }) =>
      event.series === undefined ? [] : [{ event, isSeries: true }],
    )
  }

  /** Forgets what is over, and gives the series among it, to be written a last time. */
  finish(nowMs: number): EventWrite[] {
    const over = [...this.#known].filter(
      ([, { lastMs }]) => nowMs - lastMs > eventSeriesLimits.quietMs,
    )
    for (const [key] of over) this.#known.delete(key)
    return over.flatMap(([, { event }]) =>
      event.series === undefined ? [] : [{ event, isSeries: true }],
    )
  }

  #forgetOldest(): void {
    if (this.#known.size <= eventLimits.entriesMax) return
    const oldest = this.#known.keys().next()
    if (!oldest.done) this.#known.delete(oldest.value)
  }
}

function seriesKey(event: EventsV1Event): string {
  const { type, action, reason, reportingController, reportingInstance } = event
  const facts = [type, action, reason, reportingController, reportingInstance]
  return JSON.stringify([...facts, event.regarding])
}

/** With six digits after the point, as upstream's MicroTime. */
export function microTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, -1)}000Z`
}
