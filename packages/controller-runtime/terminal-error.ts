/**
 * A reconciler throws this if it cannot succeed until a person changes the object. The key is not
 * handled again until a watch shows a change. After any other error, it is retried after a backoff.
 */
export class TerminalError extends Error {
  override name = 'TerminalError'
}
