import type { EventsV1Event } from '@skerry/api'
import { RecentMap } from '@skerry/base'
import { eventLimits, eventSeriesLimits } from './limits-table.ts'

/** The object to write: a new event, or the series of an event that was written before. */
export interface EventWrite {
  readonly event: EventsV1Event
  readonly isSeries: boolean
}

interface Known {
  event: EventsV1Event
  lastMs: number
}

/**
 * Combines repeated events as KEP-383 describes: the first and the second are written, further ones
 * are counted and written now and then. Repeated events may differ only in their note.
 */
export class EventSeries {
  readonly #known = new RecentMap<string, Known>(eventLimits.entriesMax)

  /** Returns undefined if the event is only counted. */
  add(event: EventsV1Event, nowMs: number): EventWrite | undefined {
    const key = seriesKey(event)
    const known = this.#known.get(key)
    if (known === undefined) {
      this.#known.set(key, { event, lastMs: nowMs })
      return { event, isSeries: false }
    }
    const isSecond = known.event.series === undefined
    const count = (known.event.series?.count ?? 1) + 1
    known.event = { ...known.event, series: { count, lastObservedTime: microTime(nowMs) } }
    known.lastMs = nowMs
    return isSecond ? { event: known.event, isSeries: true } : undefined
  }

  /** Returns every series, to be written again. */
  ongoing(): EventWrite[] {
    return [...this.#known.values()].flatMap(({ event }) =>
      event.series === undefined ? [] : [{ event, isSeries: true }],
    )
  }

  /** Forgets events that are over. Returns the series among them, to be written a last time. */
  finish(nowMs: number): EventWrite[] {
    const over = [...this.#known].filter(
      ([, { lastMs }]) => nowMs - lastMs > eventSeriesLimits.quietMs,
    )
    for (const [key] of over) this.#known.delete(key)
    return over.flatMap(([, { event }]) =>
      event.series === undefined ? [] : [{ event, isSeries: true }],
    )
  }
}

function seriesKey(event: EventsV1Event): string {
  const { type, action, reason, reportingController, reportingInstance } = event
  const facts = [type, action, reason, reportingController, reportingInstance]
  return JSON.stringify([...facts, event.regarding])
}

/** Formats a time with six digits after the point, as upstream's MicroTime. */
export function microTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, -1)}000Z`
}
