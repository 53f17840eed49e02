/** The limits of scraping nodes for the metrics API. */
export const metricsLimits = Object.freeze({
  /** The interval between two scrapes of a node while figures are being requested. */
  askedIntervalMs: 15_000,
  /** The interval between two scrapes of a node otherwise. */
  idleIntervalMs: 60_000,
  /** How long figures count as being requested after a request. */
  askedMs: 5 * 60_000,
  scrapeTimeoutMs: 10_000,
  /** The age from which a container has a rate of its own lifetime. */
  ageMinMs: 10_000,
  nodesAtOnce: 8,
  answerBytesMax: 8 * 1024 * 1024,
  containersPerNodeMax: 2_000,
})
