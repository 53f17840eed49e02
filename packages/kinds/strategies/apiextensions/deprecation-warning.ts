import { kindsBounds } from '../../limits-table.ts'

const { bytesMax } = kindsBounds.deprecationWarning
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
const utf8 = new TextEncoder()

/**
 * Lists the errors of a deprecation warning, which each answer of the version carries as a header,
 * in upstream's words.
 */
export function deprecationWarningFaults(isDeprecated: boolean, warning: string): string[] {
  if (!isDeprecated) return ['can only be set for deprecated versions']
  const faults: string[] = []
  if (utf8.encode(warning).length > bytesMax) faults.push('must be <= 256 characters long')
  if (warning === '') faults.push('must not be an empty string')
  let at = 0
  for (const char of warning) {
    if (!printable.test(char.toWellFormed())) {
      const found = `non-printable character found at index ${at}`
      faults.push(`must only contain printable UTF-8 characters; ${found}`)
      break
    }
    at += utf8.encode(char).length
  }
  return faults
}
