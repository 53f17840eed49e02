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
  clusterStatesRoute: Object.freeze({
    /** The number of clusters to judge before other requests get their turn. */
    clustersPerTurn: 100,
  }),
  reachableClusters: Object.freeze({
    /** The number of clusters to judge before other requests get their turn. */
    clustersPerTurn: 100,
  }),
  certificateRenewal: Object.freeze({
    /** The share of its lifetime before which a certificate is not renewed. */
    usedMin: 0.5,
  }),
  replicaDirectory: Object.freeze({
    retry: Object.freeze({ initialMs: 200, maxMs: 5_000 }),
  }),
})

/** An agent that reconnects and breaks rules again and again must not push other lines out of the log. */
export const brokenTunnelLimits = Object.freeze({ linesMax: 10, perMs: 60_000 })

export const userStreamDefaults = Object.freeze({
  perCluster: 500,
  inAll: 20_000,
})

/**
 * Bounds the link between two replicas, at both of its ends. One link carries the requests to all clusters
 * whose tunnels end at the other replica. Each user has bounds of their own, so no single user fills it.
 */
export const linkLimits = Object.freeze({
  streamsMax: 2 * userStreamDefaults.inAll,
})

/** The most clusters whose names fit into one path. */
export const clustersPerReport = 100

export const directoryDefaults = Object.freeze({
  /** A replica that died is forgotten after this long; its tunnels are not used from when its link ends. */
  ttlSeconds: 10,
  renewMs: 3_000,
  /** The number of clusters without a tunnel whose last end is remembered. */
  endsMax: 50_000,
})

/** The bounds of connections to services of the edge. Streams themselves may be idle for any time. */
export const servicesLimits = Object.freeze({
  /** Open at once to one agent's services: of a tunnel's streams the others are for its API. */
  connectionsMax: 500,
  /** The share of one user, so that nobody keeps the others from a cluster's services. */
  ofOneUser: Object.freeze({ perCluster: 250, inAll: 20_000 }),
  /** The time to connect to one address, including TLS. */
  connectMs: 5_000,
  /** The number of a service's addresses to try. */
  addressesTried: 3,
  /** The time for which an agent's reading of a service stays valid. */
  serviceFreshMs: 1_000,
  servicesKept: 256,
  /** The time for which the known addresses of nodes and of their pods stay valid. */
  nodesFreshMs: 30_000,
  /** A node that is not known is looked for again after this time. */
  unknownNodesFreshMs: 5_000,
  /** Connections to machines that one agent has open at once for its hub. */
  dialsMax: 100,
  /** The window of an HTTP/2 answer on its way to a slow reader. */
  windowBytes: 524_288,
})

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

export const watchLimits = Object.freeze({
  resumeMs: 60_000,
  answerMs: 15_000,
  spreadMs: 500,
  retryMsMax: 2_000,
  provenMs: 5_000,
  frameBytesMax: 16 * 1024 * 1024,
  partialBytesMax: 64 * 1024 * 1024,
})
