/** Bounds of every controller that no caller sets, by the file that keeps them. */
export const controllerRuntimeBounds = Object.freeze({
  /** client-go's. */
  leaderElection: Object.freeze({
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  }),
  /** The defaults of Kubernetes' own controllers. */
  workQueue: Object.freeze({
    baseDelayMs: 5,
    maxDelayMs: 1_000_000,
    retriesPerSecond: 10,
    retriesBurst: 100,
  }),
  controllerMetrics: Object.freeze({
    /** Upstream's buckets of the metrics of work queues. */
    durationBucketsSeconds: Object.freeze([1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10]),
  }),
  controller: Object.freeze({
    /** The interval at which a change of the wall clock is detected, and the smallest one that counts. */
    clockLookMs: 60_000,
    clockSetMsMin: 1_000,
    workersDefault: 5,
  }),
  lateControllers: Object.freeze({ retry: Object.freeze({ initialMs: 1_000, maxMs: 60_000 }) }),
})
