import type { Random } from '@skerry/base'
import { newUid } from '../contract/uid.ts'

/** Wide enough for a UUID, a ULID and a trace id; narrow enough for any log and any header. */
const shape = /^[\w.:-]{1,64}$/

/**
 * The one name of a request in every log that it passes. A client's own is taken where it is plain and
 * short: what two of them sent at once, or what would not stand in a line of a log, is not.
 */
export function auditIdOf(headers: Readonly<Record<string, string>>, random: Random): string {
  const { 'audit-id': sent = '' } = headers
  return shape.test(sent) ? sent : newUid(random)
}
