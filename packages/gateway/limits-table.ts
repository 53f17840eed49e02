/**
 * Bounds of the gateway that no caller sets, by the file that keeps them: `brokenTunnelAudit` is broken-tunnel-audit.ts.
 */
export const gatewayBounds = Object.freeze({
  brokenTunnelAudit: Object.freeze({
    ruleCharsMax: 256,
  }),
  forwardedHeaders: Object.freeze({
    escapedKeysMax: 64,
  }),
  tunnelRefusal: Object.freeze({
    /** An agent that lost its way is back within seconds; one that was away for longer may stay away. */
    retryAfterSeconds: 2,
    soonBackMs: 30_000,
    /** The time after which to try again a cluster that stays unreachable, in milliseconds. */
    lookAgainMs: 30_000,
  }),
  replicaAnswer: Object.freeze({
    refusalBytesMax: 65_536,
    /** Fits the most clusters that one request may name, each with the most agents that it may have. */
    reportsBytesMax: 4_194_304,
  }),
  replicaNotice: Object.freeze({
    noticeBytesMax: 1_024,
    answerMs: 10_000,
    heldCharsMax: 1_024,
  }),
  replicaReports: Object.freeze({
    /**
     * The time to wait for a slow replica's report, in milliseconds. A replica that is unreachable must not hold
     * up the answer.
     */
    answerMs: 3_000,
  }),
  replicatedTunnels: Object.freeze({
    /**
     * The time for which a request waits for a cluster whose replica died, in milliseconds. The agent dials
     * another replica within a second or two.
     */
    comeBackMs: 3_000,
  }),
  runReplicaLinks: Object.freeze({
    /**
     * The time after which a replica without news gets no link any more, in milliseconds; a short outage of etcd
     * cuts none.
     */
    forgetMs: 60_000,
  }),
  serviceLink: Object.freeze({
    refusalBytesMax: 16_384,
  }),
  agentFacts: Object.freeze({
    textCharsMax: 128,
  }),
  clusterMetrics: Object.freeze({
    /** Keeps a scrape below a megabyte. */
    linesMax: 10_000,
  }),
  trafficTotals: Object.freeze({
    /** Keeps a scrape small: 20,000 clusters would be 40,000 lines. */
    trafficClustersMax: 2_000,
  }),
  classifyRequest: Object.freeze({
    /** A body with a declared length above this is bulk from its first byte. */
    bulkBodyBytes: 65_536,
  }),
  tunnelRoute: Object.freeze({
    /** The limit of the user agent, which is kept as long as the tunnel. */
    userAgentCharsMax: 128,
  }),
  expiredEvent: Object.freeze({
    /** A Status is a few hundred bytes. */
    statusBytesMax: 65_536,
  }),
  watchPosition: Object.freeze({
    /** The API only promises that a version is a string; upstream's have at most 20 characters. */
    versionCharsMax: 128,
  }),
})
