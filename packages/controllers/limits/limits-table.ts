/**
 * The limits of the controllers that callers cannot set, by the file that enforces them:
 * `podCertificateRequestCleanerController` is for pod-certificate-request-cleaner-controller.ts.
 */
export const controllerBounds = Object.freeze({
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
  podGcController: Object.freeze({
    checkMs: 20_000,
    /** A pod whose node is missing at two looks this far apart is an orphan. */
    quarantineMs: 40_000,
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
})
