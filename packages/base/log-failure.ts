import { asError } from './as-error.ts'
import { isBrokenInvariant } from './broken-invariant.ts'
import type { LogFields, Logger } from './log.ts'

export interface Failure {
  /** The subject of the line about a mistake of this program: `Reconcile` broke an invariant. */
  readonly subject: string
  /** The message of the line about any other error. */
  readonly message: string
  /** The level of that line. If omitted, info. */
  readonly level?: 'info' | 'debug'
  readonly error: unknown
  readonly fields?: LogFields
}

/**
 * Logs an error after which the caller tries again or goes on. A mistake of this program is an error line
 * with its stack, because no retry helps and a person must act.
 */
export function logFailure(
  log: Pick<Logger, 'debug' | 'error' | 'info'>,
  { subject, message, level = 'info', error, fields }: Failure,
): void {
  if (isBrokenInvariant(error)) {
    log.error(`${subject} broke an invariant`, { ...fields, error, stack: error.stack })
  } else log[level](message, { ...fields, error: asError(error) })
}
