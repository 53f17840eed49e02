/**
 * Bounds of the agent that no caller sets, by the file that keeps them: `apiConnection` is api-connection.ts.
 */
export const clusterAgentBounds = Object.freeze({
  apiConnection: Object.freeze({
    /** The kernel's keep-alive interval on an idle connection, in milliseconds. */
    keepAliveProbeMs: 1_000,
  }),
  memberApi: Object.freeze({
    /** The time for one address to answer, or for a proxy to accept, in milliseconds. */
    connectMs: 10_000,
  }),
  pushCluster: Object.freeze({
    /** The time for the last request to a cluster that may be gone, in milliseconds. */
    partingMs: 10_000,
    retry: Object.freeze({ initialMs: 1_000, maxMs: 60_000, jitter: 0.5 }),
  }),
  pushController: Object.freeze({
    /** The interval at which Secrets are read again, for new tokens, in milliseconds. */
    lookAgainMs: 30_000,
    /** The same where something is missing. */
    missingMs: 5_000,
  }),
  clusterReporter: Object.freeze({
    /** The delay that reports several nodes changing groups together, in milliseconds. */
    settleMs: 500,
    retry: Object.freeze({ initialMs: 250, maxMs: 10_000, jitter: 0.5 }),
  }),
  observedTimes: Object.freeze({
    /** A fact that does not change is confirmed this often: a write for each cluster. */
    confirmMs: 5 * 60_000,
  }),
  slimObjects: Object.freeze({
    /**
     * The most shared parts of each kind. Beyond it the known parts are forgotten, and later ones are shared
     * again.
     */
    sharedMax: 10_000,
  }),
  executionController: Object.freeze({
    /**
     * The interval of checks for deleted objects, in milliseconds. Objects with finalizers take time, and each
     * deletion is an event, too.
     */
    goneCheckMs: 5_000,
    /** A site's API may be away for long: then all its Works wait, and none for longer than this. */
    retryMsMax: 60_000,
    /** An event's message has 1 KiB at most. */
    eventCharsMax: 1_000,
  }),
  memberCluster: Object.freeze({
    /** A kind that was not there a moment ago is not asked for again at once. */
    discoveryMs: 10_000,
  }),
  planShared: Object.freeze({
    namesMax: 5,
  }),
  leaveFleet: Object.freeze({
    look: Object.freeze({ initialMs: 200, maxMs: 5_000, jitter: 0.3 }),
  }),
  leadInCluster: Object.freeze({
    /** The timing is slower than client-go's: at the edge each renewal is a write to a small disk. */
    timing: Object.freeze({
      leaseDurationMs: 45_000,
      renewDeadlineMs: 30_000,
      retryPeriodMs: 10_000,
    }),
  }),
})

export const apiForwarderDefaults = Object.freeze({
  connectMs: 10_000,
  answerMs: 65_000,
  socketsMax: 1_000,
  idleSocketsMax: 256,
  idleSocketMs: 55_000,
})

/** Karmada's, but for the lease of an agent whose tunnel is open. */
export const clusterReporterDefaults = Object.freeze({
  statusPeriodMs: 10_000,
  leaseSeconds: 40,
  presentLeaseSeconds: 600,
  presentRenewMs: 240_000,
  requestMs: 10_000,
})

export const edgeObserverDefaults = Object.freeze({
  discoveryPeriodMs: 60_000,
  freshMs: 2_000,
  certificatePeriodMs: 3_600_000,
  requestMs: 10_000,
})
