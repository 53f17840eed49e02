/**
 * True for an error of the engine that only a mistake in this program causes, as reading a field of undefined. Trying
 * again does not help, and a person must act. RangeErrors do not count: functions throw them about input, too.
 */
export function isBrokenInvariant(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof ReferenceError
}
