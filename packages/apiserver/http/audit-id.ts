import type { Random } from '@skerry/base'
import { newUid } from '../contract/uid.ts'

/** Long enough for a UUID, a ULID and a trace id; short enough for any log and any header. */
const shape = /^[\w.:-]{1,64}$/

/**
 * Returns the id of a request in every log it passes through. A client's own is used if it is plain
 * and short. It is not used if two headers were sent, or if it would not fit a log line.
 */
export function auditIdOf(headers: Readonly<Record<string, string>>, random: Random): string {
  const { 'audit-id': sent = '' } = headers
  return shape.test(sent) ? sent : newUid(random)
}
