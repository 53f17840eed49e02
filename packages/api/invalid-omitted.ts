import type { StatusCause } from './status-error.ts'

/** Like fieldInvalid, where upstream does not print the value. */
export function invalidOmitted(field: string, detail: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${detail}`, field }
}
