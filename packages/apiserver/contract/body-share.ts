/** The body of one request, from its first byte until its answer is made. */
export interface BodyShare extends Disposable {
  /** Throws TooManyRequests if the bodies of this user, or of all, would be too much. */
  add(bytes: number): void
  /**
   * Resolves when a body of this size may be worked on, with so many bytes more that are stored already; rejects with
   * the signal's reason.
   */
  untilItsTurn(storedBytes?: number): Promise<void>
  /** True from untilItsTurn on, if it had to wait for its turn. */
  readonly isLarge: boolean
  /**
   * To be called between two steps of work. Undefined for a small request, which goes on; else resolves when others
   * were served, and rejects with the signal's reason.
   */
  pause(): Promise<void> | undefined
}
