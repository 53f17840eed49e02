import { StatusError } from '@skerry/api'
import { consoleBounds } from '../limits-table.ts'
import { limitIn, requireKnown } from '../request/query-checks.ts'

/** The lines that a user asks for. Times are of the ends of requests, in milliseconds since the Unix epoch. */
export interface AuditQuery {
  readonly sinceMs: number
  readonly untilMs: number
  readonly user: string | undefined
  readonly cluster: string | undefined
  readonly verb: string | undefined
  readonly resource: string | undefined
  /** A resource whose requests are left out. */
  readonly without: string | undefined
  readonly limit: number
}

const { textCharsMax, ...limits } = consoleBounds.auditSearch
const names = new Set(['since', 'until', 'user', 'cluster', 'verb', 'resource', 'without', 'limit'])

/** Throws BadRequest. */
export function readAuditQuery(query: URLSearchParams): AuditQuery {
  requireKnown(query, names, refused)
  return {
    sinceMs: timeOf('since', query) ?? Number.NEGATIVE_INFINITY,
    untilMs: timeOf('until', query) ?? Number.POSITIVE_INFINITY,
    user: textOf('user', query),
    cluster: textOf('cluster', query),
    verb: textOf('verb', query)?.toLowerCase(),
    resource: textOf('resource', query)?.toLowerCase(),
    without: textOf('without', query)?.toLowerCase(),
    limit: limitIn(query, limits, refused),
  }
}

function textOf(name: string, query: URLSearchParams): string | undefined {
  const text = query.get(name) ?? ''
  if (text.length > textCharsMax) throw refused(`${name} is longer than ${textCharsMax} characters`)
  return text === '' ? undefined : text
}

function timeOf(name: string, query: URLSearchParams): number | undefined {
  const text = textOf(name, query)
  if (text === undefined) return undefined
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)
  const ms = isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw refused(`${name} must be a time like 2026-01-31T08:00:00Z`)
  return ms
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot read the audit log: ${why}`)
}
