import { ageOf, type Event, type EventsV1Event } from '@skerry/api'
import { nameCell, wide, type CellOf } from './column.ts'

/** Columns of core/v1 events. The name comes last, and only with -o wide. */
export const eventCells: readonly CellOf<Event>[] = [
  { name: 'Last Seen', cell: lastSeen },
  { name: 'Type', cell: ({ type }) => type ?? '' },
  { name: 'Reason', cell: ({ reason }) => reason ?? '' },
  { name: 'Object', cell: ({ involvedObject }) => objectText(involvedObject) },
  wide('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? ''),
  wide('Source', sourceText),
  { name: 'Message', cell: ({ message }) => (message ?? '').trim() },
  wide('First Seen', firstSeen),
  wide('Count', ({ series, count }) => series?.count ?? (series ? 0 : count || 1)),
  { ...nameCell, priority: 1 },
]

/** events.k8s.io/v1 names the same facts differently. */
export function eventOfEventsV1(event: EventsV1Event): Event {
  return {
    apiVersion: event.apiVersion,
    kind: event.kind,
    metadata: event.metadata,
    involvedObject: event.regarding ?? {},
    ...(event.type === undefined ? {} : { type: event.type }),
    ...(event.reason === undefined ? {} : { reason: event.reason }),
    ...(event.note === undefined ? {} : { message: event.note }),
    ...(event.series === undefined ? {} : { series: event.series }),
    ...(!event.eventTime ? {} : { eventTime: event.eventTime }),
    count: event.deprecatedCount ?? 0,
    source: event.deprecatedSource ?? {},
    reportingComponent: event.reportingController ?? '',
    reportingInstance: event.reportingInstance ?? '',
    ...(event.deprecatedFirstTimestamp ? { firstTimestamp: event.deprecatedFirstTimestamp } : {}),
    ...(event.deprecatedLastTimestamp ? { lastTimestamp: event.deprecatedLastTimestamp } : {}),
  }
}

function firstSeen({ firstTimestamp, eventTime }: Event, nowMs: number): string {
  return ageOf(firstTimestamp || eventTime, nowMs)
}

function lastSeen(event: Event, nowMs: number): string {
  if (event.series) return ageOf(event.series.lastObservedTime, nowMs)
  return event.lastTimestamp ? ageOf(event.lastTimestamp, nowMs) : firstSeen(event, nowMs)
}

function objectText({ kind = '', name }: Event['involvedObject']): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase()
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || ''
  const instance = source?.host || reportingInstance
  return instance ? `${component}, ${instance}` : component
}
