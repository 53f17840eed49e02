/** Searches of the hub's audit log: what is asked, and what came. Pure. */

/** The filters of the page, as they stand in its address. Its times have their zone: people in others may open it, too. */
export interface AuditFilter {
  readonly user: string
  readonly cluster: string
  readonly verb: string
  readonly resource: string
  readonly since: string
  readonly until: string
  /** `shown`: also requests that only ask for rights. Pages and kubectl make more of these than of all others. */
  readonly reviews: string
}

export const auditFields = ['user', 'cluster', 'verb', 'resource', 'since', 'until'] as const

/** One line of the log. */
export interface AuditEvent {
  /** When the request began, RFC 3339. */
  readonly time: string
  readonly auditID?: string
  readonly user?: string
  readonly cluster?: string
  readonly method: string
  readonly uri: string
  readonly status?: number
  readonly ms?: number
  readonly impersonator?: string
}

export interface AuditAnswer {
  /** The replica whose log this is; empty if the hub has only one. */
  readonly replica: string
  /** If it is not null, there may be more up to that time. */
  readonly cutAt: string | null
  readonly events: readonly AuditEvent[]
}

export function readFilter(values: Readonly<Record<string, string>>): AuditFilter {
  const of = (name: (typeof auditFields)[number]): string => values[name] ?? ''
  return {
    user: of('user'),
    cluster: of('cluster'),
    verb: of('verb'),
    resource: of('resource'),
    since: of('since'),
    until: of('until'),
    reviews: values['reviews'] ?? '',
  }
}

/** Returns the address of a search. With `cutAt`, it goes on where an answer was cut. */
export function auditPath(filter: AuditFilter, limit: number, cutAt?: string): string {
  const query = new URLSearchParams({ limit: String(limit) })
  for (const name of ['user', 'cluster', 'verb', 'resource'] as const) {
    if (filter[name].trim() !== '') query.set(name, filter[name].trim())
  }
  if (filter.reviews === '') query.set('without', 'selfsubjectaccessreviews')
  const times = { since: timeOf(filter.since), until: cutAt ?? timeOf(filter.until) }
  for (const [name, time] of Object.entries(times)) if (time !== undefined) query.set(name, time)
  return `/hub/v1/audit?${query.toString()}`
}

/** A time without a zone is the viewer's own. */
function timeOf(text: string): string | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** Returns the time for the address of the page from a field, which writes `2026-11-28T16:40` in the viewer's zone. */
export function timeOfField(text: string): string {
  return timeOf(text) ?? ''
}

/** Returns the text of a field for times; empty for anything but a time. */
export function fieldOfTime(text: string): string {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) return ''
  const [month, day, hours, minutes] = [
    at.getMonth() + 1,
    at.getDate(),
    at.getHours(),
    at.getMinutes(),
  ].map((part) => String(part).padStart(2, '0'))
  return `${at.getFullYear()}-${month}-${day}T${hours}:${minutes}`
}

/** Adds older lines. A search that goes on brings lines of the moment of the cut again. */
export function withOlder(
  known: readonly AuditEvent[],
  older: readonly AuditEvent[],
): readonly AuditEvent[] {
  const seen = new Set(known.map(keyOf))
  return [...known, ...older.filter((event) => !seen.has(keyOf(event)))]
}

export function keyOf({ auditID, time, method, uri, user }: AuditEvent): string {
  return auditID ?? [time, method, uri, user].join(' ')
}

/** Requests to one cluster name it twice; the page has a column for it. */
export function shownUri({ uri, cluster }: AuditEvent): string {
  const prefix = `/clusters/${cluster}/`
  return cluster !== undefined && uri.startsWith(prefix) ? uri.slice(prefix.length - 1) : uri
}
