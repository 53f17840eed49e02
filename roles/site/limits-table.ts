/** The rules for nodes that a caller may set. */
export const siteDefaults = Object.freeze({
  /** The time after its end in which a node's certificate still brings it back. */
  nodeReturnGraceMs: 30 * 86_400_000,
})

/** Bounds of roles/site that no caller sets, by the file that keeps them. */
export const siteBounds = Object.freeze({
  returningNodes: Object.freeze({
    /** A certificate, a request and a signature; each has a few kilobytes. */
    bodyBytesMax: 32 * 1024,
  }),
  /** The bounds of an etcd that the site runs; times are in milliseconds. */
  etcd: Object.freeze({
    program: Object.freeze({
      /** The time in which a program reports its version. */
      askMs: 10_000,
      installMs: 900_000,
      outputBytesMax: 16 * 1024 * 1024,
    }),
    member: Object.freeze({
      /** etcd's own rule for the time of an election; see its page about tuning. */
      electionHeartbeats: 10,
      /** The number of entries of the log that a member keeps in memory before it takes a snapshot. */
      snapshotCount: 10_000,
      logMebibytes: 10,
      logFiles: 2,
    }),
    process: Object.freeze({
      restart: Object.freeze({ initialMs: 500, maxMs: 30_000 }),
      /** A member that ran this long begins again with the shortest pause. */
      healthyMs: 60_000,
      stopGraceMs: 10_000,
      lookMs: 100,
      logTailBytes: 65_536,
      /** The engine of etcd collects memory earlier near this size. */
      memoryMebibytes: 256,
      /** The limit that the system keeps, in multiples of that size; the file's pages count for it, too. */
      memoryFactor: 4,
      cpuWeight: 200,
      ioWeight: 200,
      oomScore: -900,
    }),
    /** A master that becomes the only one, or ceases to be one. */
    leaving: Object.freeze({
      /** How long its site may take to notice that the others are gone. */
      forgetMs: 15_000,
      forgetLookMs: 200,
      removalsMax: 10,
    }),
    removal: Object.freeze({
      /** etcd refuses changes of its members for five seconds after one of them has come back. */
      patienceMs: 15_000,
      pauseMs: 1_000,
    }),
    watch: Object.freeze({
      lookMs: 5_000,
      /** The interval of looks until the members agree. */
      startLookMs: 200,
      /** A member that is silent for this long does not answer. */
      answerMs: 3_000,
      /** How often a start that waits says why. */
      sayMs: 10_000,
    }),
    joining: Object.freeze({
      retry: Object.freeze({ initialMs: 200, maxMs: 3_000 }),
      discoverMs: 60_000,
    }),
    upkeep: Object.freeze({
      lookMs: 60_000,
      /** A learner that nobody hears for this long blocks further ones, and is removed. */
      learnerMs: 300_000,
      defragmentEveryMs: 86_400_000,
      /** A file below this size is left as it is, in bytes. */
      defragmentBytesMin: 64 * 1024 * 1024,
      /** The share of a file that must be unused. */
      defragmentShare: 0.5,
      /** Writes are allowed again once no file is larger than this share of the quota. */
      fullShare: 0.9,
    }),
    recovery: Object.freeze({
      /** etcd makes its log in files of this size. */
      roomBytesMin: 64 * 1024 * 1024,
    }),
    leading: Object.freeze({
      /** How long a witness may lead before a master takes the lead. */
      lookMs: 10_000,
    }),
    backups: Object.freeze({
      /** A backup that failed is tried again after this time. */
      retryMs: 600_000,
      lookMs: 60_000,
    }),
    lone: Object.freeze({
      /** The time in which a member that runs for a command alone must serve. */
      serveMs: 60_000,
      heartbeatMs: 100,
      /** A full member must still start, in bytes. */
      quotaBytes: 8 * 1024 ** 3,
    }),
  }),
  /** The manifests in the site's directory; times are in milliseconds. */
  manifests: Object.freeze({
    lookMs: 2_000,
    filesMax: 500,
    depthMax: 8,
    bytesMax: 8 * 1024 * 1024,
    /** The objects of one file. */
    objectsMax: 1_000,
    retry: Object.freeze({ initialMs: 2_000, maxMs: 300_000 }),
  }),
  leadership: Object.freeze({
    /** How often a master that does not lead looks for the lease, on top of a random part, in milliseconds. */
    acquirePeriodMs: 1_000,
    /** Upstream's interval of the repair of node ports, in milliseconds. */
    repairMs: 180_000,
  }),
  whileReady: Object.freeze({
    /** The interval at which a master with others asks itself whether it is ready, in milliseconds. */
    lookMs: 2_000,
    answerMs: 3_000,
    /** A server that was not ready so many times in a row is not. */
    failuresMax: 3,
  }),
  masters: Object.freeze({
    /** The pause before an endpoint that was not published is published again, in milliseconds. */
    publishAgainMs: 5_000,
  }),
  masterDirectory: Object.freeze({
    /** The others forget a silent master after this time; upstream's. */
    ttlSeconds: 15,
    /** The interval at which a master renews its entry, in milliseconds. */
    renewMs: 5_000,
    /** The interval at which a master compares the endpoints with the entries; upstream's, in milliseconds. */
    reconcileMs: 10_000,
    retry: Object.freeze({ initialMs: 500, maxMs: 5_000 }),
  }),
  /** The bounds of units that are handed over; times are in milliseconds. */
  units: Object.freeze({
    fence: Object.freeze({
      unitsMax: 1_000,
      /** The objects that go with one unit; its record names each. */
      movedMax: 5_000,
      /** How often what belongs to a unit is read again because somebody has just added to it. */
      readsMax: 10,
      /** How often one write is tried because units change sides at the same time. */
      renewalsMax: 10,
    }),
    content: Object.freeze({
      pageEntries: 500,
      /** The objects of a cluster that are read to find those of a unit. */
      objectsMax: 50_000,
      bytesMax: 64 * 1024 * 1024,
    }),
    acts: Object.freeze({
      /** A node that was not heard for this long is not one that would run a control plane. */
      heardMs: 60_000,
      nodesMax: 10_000,
      namedMax: 10,
    }),
    statement: Object.freeze({
      /** The members of an etcd that a node names. */
      membersMax: 10,
      /** The letters of a fault that a node names. */
      troubleMax: 500,
    }),
    route: Object.freeze({
      statementBytesMax: 4_096,
    }),
  }),
})
