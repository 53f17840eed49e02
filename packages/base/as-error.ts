/** Returns an Error as it is, and wraps any other thrown value in an Error with its text as the message. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
