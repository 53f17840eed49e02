/** Bounds of what is read from nodes for the metrics API. */
export const metricsLimits = Object.freeze({
  /** Between two looks at a node while somebody asks for figures … */
  askedIntervalMs: 15_000,
  /** … and while nobody does. */
  idleIntervalMs: 60_000,
  /** For so long after a question somebody is taken to ask. */
  askedMs: 5 * 60_000,
  scrapeTimeoutMs: 10_000,
  /** A container has a rate of its own life only from this age on. */
  ageMinMs: 10_000,
  nodesAtOnce: 8,
  answerBytesMax: 8 * 1024 * 1024,
  containersPerNodeMax: 2_000,
})
