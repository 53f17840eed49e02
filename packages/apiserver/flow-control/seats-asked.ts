import type { RequestInfo } from '../contract/request-info.ts'
import { apiServerBounds } from '../limits-table.ts'
import type { SeatsAsked } from './priority-queues.ts'

/** Counts of the objects and watches that a request concerns. */
export interface SeatFacts {
  /** Returns the number of objects that a list would read, which determines its seats. */
  readonly objectsOf: (info: RequestInfo) => number
  /** Returns the number of watches of the written resource. If omitted, there are none. */
  readonly watchersOf?: (info: RequestInfo) => number
}

const objectsPerSeat = 100
const { listSeatsMax, writeSeatsMax, eventMs } = apiServerBounds.flowControl
const watchersPerSeat = 10
const writeVerbs: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])

/**
 * Returns the seats that a request takes, and how long it keeps them. A write to a resource with many watches takes
 * more seats for longer, because each event goes to each watch.
 */
export function seatsAsked(info: RequestInfo, facts: SeatFacts): Omit<SeatsAsked, 'waitMs'> {
  if (info.verb === 'list') return { seats: listSeats(info, facts) }
  return isWrite(info) ? writeSeats(facts.watchersOf?.(info) ?? 0) : { seats: 1 }
}

/** A list takes a seat for each hundred objects that it reads. */
function listSeats(info: RequestInfo, { objectsOf }: SeatFacts): number {
  const count = objectsOf(info)
  const limit = Number(info.query.get('limit') ?? 0)
  const isFromCache = info.query.get('resourceVersion') === '0'
  const touched = limit > 0 && !isFromCache ? Math.min(limit, count) : count
  return Math.max(1, Math.min(listSeatsMax, Math.ceil(touched / objectsPerSeat)))
}

/** Creating a service account token causes no event. */
function isWrite({ verb, resource, subresource }: RequestInfo): boolean {
  return (
    writeVerbs.has(verb) && !(resource.resource === 'serviceaccounts' && subresource === 'token')
  )
}

/**
 * Returns upstream's estimate: a seat for ten watchers, five milliseconds each, at most ten seats
 * at a time.
 */
function writeSeats(watchers: number): Omit<SeatsAsked, 'waitMs'> {
  if (watchers < watchersPerSeat) return { seats: 1 }
  const work = Math.ceil(watchers / watchersPerSeat)
  const seats = Math.min(writeSeatsMax, work)
  return { seats, afterMs: (work * eventMs) / seats }
}
