import { expressions } from '../expressions/expressions.ts'

const patternLimits = Object.freeze({
  /** Longer text is not matched but refused. */
  textLengthMax: 1024 * 1024,
})

/** Does the text match a CRD's pattern, in Go's syntax? Takes linear time, whatever the pattern. */
export function matchesPattern(pattern: string, text: string): boolean {
  if (text.length > patternLimits.textLengthMax) return false
  const { CelRuntimeError, patternOf } = expressions()
  try {
    return patternOf(pattern).matcher(text).find()
  } catch (error) {
    // A pattern that cannot be read was refused with the CRD; an old one must not lock objects out.
    if (error instanceof CelRuntimeError) return true
    throw error
  }
}

/** Undefined when the pattern is valid, else what is wrong with it. */
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
