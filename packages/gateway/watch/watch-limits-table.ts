/** Bounds of what the hub does for watches of clusters. */
export interface WatchLimits {
  /**
   * How long a broken watch waits for its cluster, from the break on. A dead link is found within 25 s and
   * an agent dials every few seconds; of what takes longer, the client should be told.
   */
  readonly resumeMs: number
  /** From asking again to the head of the answer. */
  readonly answerMs: number
  /** Watches of one cluster break together; they come back spread over this. */
  readonly spreadMs: number
  readonly retryMsMax: number
  /** A watch that lived shorter after it was resumed has not come back: its time goes on running. */
  readonly provenMs: number
  /** One event. Go's clients read none that are longer. */
  readonly frameBytesMax: number
  /** Events that have come in part, of all watches of one cluster. */
  readonly partialBytesMax: number
}

export const watchLimits: WatchLimits = Object.freeze({
  resumeMs: 60_000,
  answerMs: 15_000,
  spreadMs: 500,
  retryMsMax: 2_000,
  provenMs: 5_000,
  frameBytesMax: 16 * 1024 * 1024,
  partialBytesMax: 64 * 1024 * 1024,
})
