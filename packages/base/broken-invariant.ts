/**
 * Returns true if only a mistake in this program causes such an error of the engine, e.g. reading a
 * field of undefined. A retry does not help; a person must act. RangeErrors do not count, because
 * functions also throw them for invalid input.
 */
export function isBrokenInvariant(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof ReferenceError
}
