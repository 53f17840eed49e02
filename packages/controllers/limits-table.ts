/**
 * The limits of the controllers that callers cannot set, by the file that enforces them:
 * `podCertificateRequestCleanerController` is for pod-certificate-request-cleaner-controller.ts.
 */
export const controllerBounds = Object.freeze({
  signingRules: Object.freeze({
    /** Certificates are backdated a little, because a client's clock may be behind ours. */
    backdateMs: 5 * 60_000,
    /** The shortest lifetime, even if less is requested. */
    durationSecondsMin: 600,
    /** Certificates of this lifetime or more end earlier by the time they are backdated. */
    shortMs: 8 * 3_600_000,
  }),
  podCertificateRequestCleanerController: Object.freeze({
    /** Upstream's times. A request is answered long before it is this old. */
    keptMs: 15 * 60_000,
    checkMs: 5 * 60_000,
  }),
  cronJobPlan: Object.freeze({
    /**
     * The limit of cron(8): if a clock goes back by more, it was wrong before; if by less, it repeats
     * times that are done already.
     */
    repeatedMsMax: 3 * 3_600_000,
    /** Looks come this much after the due time, so that they are never early. */
    lateMs: 100,
    /** More missed times than this are reported, because clocks or deadlines are wrong. */
    missedTimesMax: 100,
  }),
  daemonSetController: Object.freeze({
    /** The number of pods created or deleted in one look. */
    burstMax: 250,
  }),
  failedPodBackoff: Object.freeze({
    firstMs: 1_000,
    maxMs: 900_000,
  }),
  disruptionController: Object.freeze({
    /** An eviction that did not lead to a deletion within this time is forgotten. */
    disruptedMsMax: 2 * 60_000,
  }),
  staleDisruption: Object.freeze({
    /** A pod that was to be disrupted and still lives after this time was spared. */
    staleMs: 2 * 60_000,
  }),
  endpointsController: Object.freeze({
    settleMs: 50,
    /** More addresses than this are cut off, and the object records it (upstream's rule). */
    addressesMax: 1_000,
  }),
  endpointsliceController: Object.freeze({
    /** A burst of pod changes (a rollout) triggers one look at the service. */
    settleMs: 50,
    retryMsMin: 1_000,
  }),
  clusterRoleAggregationController: Object.freeze({
    /** Several roles that change together trigger one look at the roles that aggregate them. */
    settleMs: 20,
  }),
  attachDetachController: Object.freeze({
    retryMsMin: 500,
    retryMsMax: 122_000,
  }),
  serviceLbController: Object.freeze({
    /** A burst of changes (a rollout, a node that restarts) triggers one plan of all load balancers. */
    settleMs: 50,
  }),
  balanceStatus: Object.freeze({
    /** An event takes 1,024 characters. */
    messageCharactersMax: 1_000,
  }),
  namespaceController: Object.freeze({
    /** Several pods that end together trigger one look at their namespace. */
    settleMs: 100,
  }),
  mirrorPlan: Object.freeze({
    /** The number of addresses of one subset that are mirrored; further ones are left out. Upstream's default. */
    addressesMax: 1_000,
  }),
  absentOwners: Object.freeze({
    /** The number of owners cached as absent. A uid never comes back, so an entry stays true forever. */
    entriesMax: 500,
  }),
  garbageCollector: Object.freeze({
    discoverEveryMs: 30_000,
    syncPollMs: 200,
    workers: 4,
    /** The pause that collects several new kinds into one discovery, in milliseconds. */
    discoveryPauseMs: 1_000,
  }),
  resourceMonitors: Object.freeze({
    /**
     * A resource that does not sync for this long, e.g. because of a broken webhook, does not hold up
     * the others.
     */
    syncPatienceMs: 30_000,
  }),
  recentDiscovery: Object.freeze({
    /** Kinds are rarely added; a new one is known after this time. */
    recentMs: 30_000,
  }),
  scaleTarget: Object.freeze({
    attemptsMax: 5,
  }),
  jobController: Object.freeze({
    /** Many pods end at the same time; one look handles all of them. */
    podDelayMs: 50,
  }),
  neighboursCondition: Object.freeze({
    /** The voters that the message of the condition names, on each side. */
    namesMax: 8,
  }),
  planEviction: Object.freeze({
    /** The toleration that the API server gives to pods by default, in seconds. */
    tolerationSecondsDefault: 300,
  }),
  podGcController: Object.freeze({
    checkMs: 20_000,
    /** A pod whose node is missing at two looks this far apart is an orphan. */
    quarantineMs: 40_000,
    /** Less than upstream's default of --terminated-pod-gc-threshold, for small machines. */
    finishedPodsMax: 1_000,
  }),
  resourceQuotaController: Object.freeze({
    /** The interval at which everything is counted again. */
    recountMs: 300_000,
    /** How long to wait for a counted kind that the server does not serve. */
    absentMs: 30_000,
    /** One look handles many changes. */
    changeDelayMs: 500,
  }),
  legacyTokenCleanerController: Object.freeze({
    checkMs: 24 * 3_600_000,
  }),
  serviceCidrController: Object.freeze({
    /** The time for allocators to learn of the deletion before the range is gone. Upstream's figure. */
    graceMs: 10_000,
  }),
  revisionAnnotations: Object.freeze({
    /** The characters of the revision history. The oldest entries are dropped. */
    historyLengthMax: 2000,
  }),
  metricsClient: Object.freeze({
    windowDefaultMs: 60_000,
  }),
  jobPods: Object.freeze({
    /** The length of the name before the index; the server adds five letters within 63. */
    namePrefixLengthMax: 58,
  }),
  quantityText: Object.freeze({
    /** The number of digits that always fit an int64. */
    digitsMax: 18,
  }),
  replicaSetPlan: Object.freeze({
    /** The number of pods created or deleted in one look. */
    burstReplicas: 500,
  }),
  podClaims: Object.freeze({
    /** Names have 63 characters, of which the server adds five and this controller a hyphen. */
    baseCharactersMax: 57,
  }),
  legacyTokenPlan: Object.freeze({
    /** Upstream's default of --legacy-service-account-token-clean-up-period: a year. */
    unusedMs: 8_760 * 3_600_000,
  }),
  serviceAccountTokenController: Object.freeze({
    /** Tokens in secrets expire only with their secret. This is the longest lifetime that the API allows. */
    lifetimeSeconds: 2 ** 32,
  }),
})

/** Upstream's default: changing one endpoint rewrites at most this many. */
export const endpointsPerSliceMax = 100

/** The defaults of kube-controller-manager (--horizontal-pod-autoscaler-*). */
export const autoscalerDefaults = Object.freeze({
  syncMs: 15_000,
  downscaleStabilizationSeconds: 300,
  /** The CPU figures of a younger pod may still be those of its start. */
  cpuInitializationMs: 5 * 60_000,
  /** A pod that was never ready by this age is not assumed to have become unready. */
  initialReadinessMs: 30_000,
  tolerance: 0.1,
  /** Without a behavior, the replicas grow at once by at most this factor, or to at least this many. */
  scaleUpFactor: 2,
  scaleUpMin: 4,
  replicasMax: 2 ** 31 - 1,
  answerBytesMax: 16 * 1024 * 1024,
})

export const jobLimits = Object.freeze({
  /** The wait after the first failure, which doubles with each further one. */
  backoffMs: 10_000,
  backoffMaxMs: 600_000,
  /** The number of pods created or deleted in one look. */
  podsMax: 500,
  /** The number of pods in the status that wait to be counted. */
  uncountedMax: 500,
})

export const nodeHealthDefaults = Object.freeze({
  /** The interval at which all nodes are checked. */
  checkMs: 5_000,
  /** After this long without a sign of life, a node's conditions become Unknown. */
  graceMs: 50_000,
  /** The same for a node that has never reported. */
  startupGraceMs: 60_000,
  /** After this long without a sign of life, a node is dead if its neighbours agree. Two renewals of its lease are missing. */
  suspectMs: 20_000,
  /** A node's word that it misses a neighbour counts for this long after its own last sign of life. */
  missedWordMs: 25_000,
})

/** Upstream's rates of eviction, in nodes per second. */
export const evictionDefaults = Object.freeze({
  nodesPerSecond: 0.1,
  /** The rate in a zone with many silent nodes. */
  disruptedNodesPerSecond: 0.01,
  /** A disrupted zone of at most this many nodes evicts nothing. */
  smallZoneNodesMax: 50,
  unhealthyShare: 0.55,
})
