/** The hub did not let the agent in, or could not be reached; `cause` has the first fault. */
export class TunnelDialError extends Error {
  override name = 'TunnelDialError'
  /** The HTTP status, if the hub or the proxy answered and refused. */
  readonly status?: number
  /** The time that the hub asks to stay away. */
  readonly retryAfterMs?: number

  constructor(message: string, options: ErrorOptions & { status?: number; retryAfterMs?: number }) {
    super(message, options)
    if (options.status !== undefined) this.status = options.status
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}
