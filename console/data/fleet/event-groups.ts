/** Events of a cluster, put together by their reason. Pure. */
import { byName } from './fleet.ts'

/** An event of core/v1, as far as it is shown. */
export interface EventObject {
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly uid?: string
    readonly creationTimestamp?: string
  }
  readonly involvedObject?: {
    readonly apiVersion?: string
    readonly kind?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly reason?: string
  readonly message?: string
  readonly type?: string
  readonly count?: number
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
}

export interface EventGroup {
  readonly reason: string
  readonly kind: string
  readonly isWarning: boolean
  /** How often it happened, over all objects. */
  readonly count: number
  /** The objects that it happened to, the latest first. */
  readonly objects: readonly string[]
  readonly lastMs: number
  readonly message: string
}

/** Returns when an event happened last; writers of different ages keep it in different fields. */
export function lastSeenMs(event: EventObject): number {
  const times = [
    event.series?.lastObservedTime,
    event.lastTimestamp,
    event.eventTime,
    event.firstTimestamp,
    event.metadata.creationTimestamp,
  ]
  return Date.parse(times.find((time) => typeof time === 'string' && time !== '') ?? '')
}

export function countOf({ series, count }: EventObject): number {
  return Math.max(series?.count ?? 0, count ?? 0, 1)
}

export function isWarning({ type }: EventObject): boolean {
  return type !== undefined && type !== 'Normal'
}

export function subjectOf({ involvedObject = {} }: EventObject): string {
  const { namespace, name = '' } = involvedObject
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** Puts warnings first, and then what happened last. */
export function eventGroups(events: Iterable<EventObject>): EventGroup[] {
  const groups = new Map<string, EventObject[]>()
  for (const event of events) {
    const key = [isWarning(event), event.reason, event.involvedObject?.kind].join('\n')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [event])
    else group.push(event)
  }
  return [...groups.values()]
    .flatMap((members) => groupOf(members.toSorted(byTime)))
    .toSorted(
      (a, b) =>
        Number(b.isWarning) - Number(a.isWarning) ||
        b.lastMs - a.lastMs ||
        byName(a.reason, b.reason),
    )
}

/** Compares two events: the later one comes first. One without a time comes last. */
export function byTime(a: EventObject, b: EventObject): number {
  return (lastSeenMs(b) || 0) - (lastSeenMs(a) || 0)
}

/** The members begin with the latest. */
function groupOf(members: readonly EventObject[]): EventGroup[] {
  const [first] = members
  if (first === undefined) return []
  return [
    {
      reason: first.reason ?? '',
      kind: first.involvedObject?.kind ?? '',
      isWarning: isWarning(first),
      count: members.reduce((total, event) => total + countOf(event), 0),
      objects: [...new Set(members.map(subjectOf))],
      lastMs: lastSeenMs(first),
      message: first.message ?? '',
    },
  ]
}

/** Words that must all occur in a reason, a message or the name of an object. */
export function matchesEvent(event: EventObject, text: string): boolean {
  const { reason, message, involvedObject, source, reportingComponent } = event
  const texts = [reason, message, involvedObject?.kind, subjectOf(event)]
  const searched = [...texts, source?.component, reportingComponent].join('\n').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word))
}
