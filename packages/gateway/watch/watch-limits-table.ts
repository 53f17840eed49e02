/** The bounds of the hub's work for watches of clusters. */
export interface WatchLimits {
  /**
   * The time that a broken watch waits for its cluster, from the break on. A dead link is found within 25 s
   * and an agent dials every few seconds; the client should learn of longer outages.
   */
  readonly resumeMs: number
  /** The time from a repeated request to the head of the answer. */
  readonly answerMs: number
  /** Watches of one cluster break together; they come back spread over this. */
  readonly spreadMs: number
  readonly retryMsMax: number
  /** A resumed watch that ends sooner than this has not recovered: its waiting time continues. */
  readonly provenMs: number
  /** The limit of one event. Go's clients read no longer ones. */
  readonly frameBytesMax: number
  /** The limit of partial events, of all watches of one cluster. */
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
