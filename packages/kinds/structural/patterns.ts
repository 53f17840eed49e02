import { expressions } from '../expressions/expressions.ts'
import { kindsBounds } from '../limits-table.ts'

const patternLimits = kindsBounds.patterns

/**
 * Returns true if the text matches a CRD's pattern, in Go's syntax. Takes linear time, whatever the
 * pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  if (text.length > patternLimits.textLengthMax) return false
  const { CelRuntimeError, patternOf } = expressions()
  try {
    return patternOf(pattern).matcher(text).find()
  } catch (error) {
    // An unreadable pattern is refused with the CRD; an old one must not make objects unusable.
    if (error instanceof CelRuntimeError) return true
    throw error
  }
}

/** Returns the error of an invalid pattern, or undefined if it is valid. */
export function checkPattern(pattern: string): string | undefined {
  const { CelRuntimeError, patternOf } = expressions()
  try {
    patternOf(pattern)
    return undefined
  } catch (error) {
    if (error instanceof CelRuntimeError) return error.message
    throw error
  }
}
