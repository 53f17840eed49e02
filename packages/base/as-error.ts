/** An Error stays itself; any other value that was thrown becomes the message of one. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
