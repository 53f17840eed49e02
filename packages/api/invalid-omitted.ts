import type { StatusCause } from './status-error.ts'

/** Does the same as fieldInvalid where upstream does not print the value. */
export function invalidOmitted(field: string, detail: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${detail}`, field }
}
