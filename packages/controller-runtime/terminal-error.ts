/**
 * Thrown by a reconciler that cannot succeed until a person changes the object: the key is not looked at again before a
 * watch shows a change. Every other error is tried again after a backoff.
 */
export class TerminalError extends Error {
  override name = 'TerminalError'
}
