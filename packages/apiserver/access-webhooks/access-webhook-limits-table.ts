/** Every bound of webhooks that say who somebody is and what they may do. */
export const accessWebhookLimits = Object.freeze({
  /** Of one answer; reviews are small. */
  answerBytesMax: 1024 * 1024,
  /** Tries of one review, the first included. */
  attemptsMax: 5,
  retryMs: 500,
  retryFactor: 1.5,
  retryJitter: 0.2,
  /** Decisions and users that are remembered. */
  cachedMax: 8_192,
  /** A token review takes no longer, whatever is tried. */
  tokenTimeoutMs: 10_000,
})
