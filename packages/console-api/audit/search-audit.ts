import { isJsonObject } from '@skerry/api'
import { parseRequestInfo } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'
import type { AuditQuery } from './audit-query.ts'
import { readBackwards } from './read-backwards.ts'

/** The result of a search. */
export interface AuditFound {
  /** The lines as they stand in the file, without their ends. The newest comes first. */
  readonly lines: readonly string[]
  /**
   * Milliseconds since the Unix epoch, if lines before may match, too: a limit was reached. Ask again up to that time; a
   * line of that very time may come twice.
   */
  readonly cutMs: number | undefined
}

const { timeMs, answerBytesMax, orderMs } = consoleBounds.auditSearch

/** Searches a log from its end, in pieces. A search that takes long ends early. */
export async function searchAudit(
  path: string,
  query: AuditQuery,
  clock: Pick<Clock, 'monotonicMs'>,
  signal: AbortSignal,
): Promise<AuditFound> {
  const needles = needlesOf(query)
  const lines: string[] = []
  let bytes = 0
  let lastMs: number | undefined
  const beganMs = clock.monotonicMs()
  for await (const piece of readBackwards(path)) {
    signal.throwIfAborted()
    if (isAfter(piece, query.untilMs)) continue
    for (const line of piece.toString('utf8').split('\n').toReversed()) {
      const entry = readEntry(line)
      if (!entry) continue
      if (entry.endMs < query.sinceMs - orderMs) return { lines, cutMs: undefined }
      if (!needles.every((needle) => line.includes(needle)) || !matches(entry, query)) continue
      if (lines.length >= query.limit || bytes + line.length > answerBytesMax) {
        return { lines, cutMs: lastMs ?? entry.endMs }
      }
      lines.push(line)
      bytes += line.length
      lastMs = entry.endMs
    }
    if (clock.monotonicMs() - beganMs > timeMs) return { lines, cutMs: startOf(piece) ?? lastMs }
  }
  return { lines, cutMs: undefined }
}

interface Entry {
  readonly endMs: number
  readonly user: unknown
  readonly cluster: unknown
  readonly method: string
  readonly uri: string
}

/** Returns undefined for a line that is not whole, or is about lost lines. */
function readEntry(line: string): Entry | undefined {
  if (!line.startsWith('{"time":')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    if (!isJsonObject(value)) return undefined
    const { time, ms, user, cluster, method, uri } = value
    if (typeof time !== 'string' || typeof method !== 'string' || typeof uri !== 'string') {
      return undefined
    }
    const endMs = Date.parse(time) + (typeof ms === 'number' ? ms : 0)
    return Number.isNaN(endMs) ? undefined : { endMs, user, cluster, method, uri }
  } catch {
    // It was torn when the machine lost its power, or is still being written.
    return undefined
  }
}

/** Texts without which a line cannot match, so that few lines are compared exactly. */
function needlesOf({ user, cluster }: AuditQuery): string[] {
  return [
    ...(user === undefined ? [] : [`"user":${JSON.stringify(user)}`]),
    ...(cluster === undefined ? [] : [`"cluster":${JSON.stringify(cluster)}`]),
  ]
}

function matches(entry: Entry, query: AuditQuery): boolean {
  const { sinceMs, untilMs, user, cluster, verb, resource, without } = query
  if (entry.endMs < sinceMs || entry.endMs > untilMs) return false
  if (user !== undefined && entry.user !== user) return false
  if (cluster !== undefined && entry.cluster !== cluster) return false
  if (verb === undefined && resource === undefined && without === undefined) return true
  const info = parseRequestInfo(entry.method, entry.uri.replace(/^\/clusters\/[^/?]+/, ''))
  const isVerb = verb === undefined || [info.verb, entry.method.toLowerCase()].includes(verb)
  const found = info.resource.resource
  return isVerb && (resource === undefined || found === resource) && found !== without
}

/** Reports whether even the oldest line of a piece ended after that time. */
function isAfter(piece: Buffer, untilMs: number): boolean {
  return (startOf(piece) ?? untilMs) > untilMs + orderMs
}

/** Returns when the oldest line of a piece ended. */
function startOf(piece: Buffer): number | undefined {
  const end = piece.indexOf('\n')
  return readEntry(piece.toString('utf8', 0, end < 0 ? piece.length : end))?.endMs
}
