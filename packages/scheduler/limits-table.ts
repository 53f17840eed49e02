export const queueDefaults = Object.freeze({
  /** The wait after the first try that found no node, which doubles with each. Upstream's figures. */
  backoffInitialMs: 1_000,
  backoffMaxMs: 10_000,
  /** A pod that no event woke is tried again after this long, in case an event was missed. */
  unschedulableMsMax: 5 * 60_000,
  /** The number of events kept while a pod is being tried; with more, it is simply tried again. */
  eventsMax: 256,
})

/** Bounds of the scheduler that no caller sets, by the file that keeps them. */
export const schedulerBounds = Object.freeze({
  httpExtender: Object.freeze({
    /**
     * The size of an answer. Longer ones are rejected; upstream has no limit. An answer names each node
     * of the question with a short text, or repeats the whole node.
     */
    answerBytesMin: 16 * 1024 * 1024,
  }),
  planPreemption: Object.freeze({
    /**
     * Upstream's figures: the search stops at this many candidates, or at a tenth of all nodes if that
     * is more.
     */
    candidatesMin: 100,
  }),
  dynamicResources: Object.freeze({
    /** Upstream's limit of pods that may share a claim. */
    reservationsMax: 256,
  }),
  reportUnschedulable: Object.freeze({
    /** The server's limit of an event's note. */
    noteBytesMax: 1024,
  }),
  scheduler: Object.freeze({
    /** The number of bindings in progress at one time. */
    bindingsMax: 32,
  }),
})
