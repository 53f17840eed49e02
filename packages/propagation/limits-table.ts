/**
 * Bounds of propagation that no caller sets, by the file that keeps them: `gracefulEviction` is graceful-eviction.ts.
 */
export const propagationBounds = Object.freeze({
  gracefulEviction: Object.freeze({
    momentMs: 100,
  }),
  planTaintEviction: Object.freeze({
    /** A time that is over is over after its second. */
    momentMs: 100,
  }),
  overrideField: Object.freeze({
    marksMax: 10_000,
    yamlCharactersMax: 256 * 1024,
  }),
  bindingScheduler: Object.freeze({
    /** The delay before a binding that lacked room is tried again, in milliseconds, plus some jitter. */
    roomRetryMs: 30_000,
    /** After this many conflicts, the whole binding is reconciled again. */
    statusTriesMax: 5,
  }),
  selectGroups: Object.freeze({
    /** The number of combinations to check, in some 20 ms; with more groups the heaviest of these suffices. */
    combinationsMax: 20_000,
  }),
  bindingController: Object.freeze({
    /** Collects reports of many clusters for this time, in milliseconds, because each look plans for all of them. */
    waveLookMs: 500,
    /** The number of Works of one binding that are written at the same time. */
    writesMax: 16,
    /** An event's message has 1 KiB at most. */
    eventCharsMax: 1_000,
  }),
  policyController: Object.freeze({
    /** A custom resource that a policy selects may be defined later. */
    unknownKindMs: 10_000,
  }),
  templates: Object.freeze({
    /** A kind that was not there a moment ago is not asked for again at once. */
    discoveryMs: 10_000,
    /** The timeout of a first read, in milliseconds. A slower kind is tried again without holding up the others. */
    syncMs: 10_000,
  }),
  fleetFailover: Object.freeze({
    isOn: false,
    purgeMode: 'Gracefully',
    evictionsPerSecond: 0.5,
    gracefulTimeoutMs: 600_000,
  }),
  modelNodes: Object.freeze({
    /** The pods of a node of which only the grade is known: Kubernetes' default. */
    podsMax: 110,
  }),
})
