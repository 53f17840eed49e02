/** Accounts for the body of one request, from its first byte until its answer is ready. */
export interface BodyShare extends Disposable {
  /**
   * Throws TooManyRequests if the bodies of this user, or of all users, would exceed their limit. Resolves when more
   * may be read; undefined if that is at once.
   */
  add(bytes: number): Promise<void> | undefined
  /**
   * Resolves when a body of this size, together with `storedBytes` that are stored already, may be
   * processed. Rejects with the signal's reason.
   */
  untilItsTurn(storedBytes?: number): Promise<void>
  /** True after untilItsTurn if the body had to wait for its turn. */
  readonly isLarge: boolean
  /**
   * Call this between two steps of work. Returns undefined for a small request, which goes on;
   * otherwise resolves when other requests were served, and rejects with the signal's reason.
   */
  pause(): Promise<void> | undefined
}
