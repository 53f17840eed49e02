/** The limits of authentication and authorization webhooks. */
export const accessWebhookLimits = Object.freeze({
  /** The largest answer. Reviews are small. */
  answerBytesMax: 1024 * 1024,
  /** The number of tries of one review, including the first. */
  attemptsMax: 5,
  retryMs: 500,
  retryFactor: 1.5,
  retryJitter: 0.2,
  /** The number of decisions and users that are cached. */
  cachedMax: 8_192,
  /** The limit of a whole token review, including its retries. */
  tokenTimeoutMs: 10_000,
})
