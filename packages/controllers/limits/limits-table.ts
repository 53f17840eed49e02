/**
 * Bounds of the controllers that no caller sets, by the file that keeps them: `podCertificateRequestCleanerController` is pod-certificate-request-cleaner-controller.ts.
 */
export const controllerBounds = Object.freeze({
  podCertificateRequestCleanerController: Object.freeze({
    /** Upstream's times: a request is answered long before it is this old. */
    keptMs: 15 * 60_000,
    checkMs: 5 * 60_000,
  }),
  cronJobPlan: Object.freeze({
    /** As cron(8) has it: a clock that goes back by more was wrong before, by less it repeats what was done already. */
    repeatedMsMax: 3 * 3_600_000,
    /** Looks come this much after the due time, so that they are never early. */
    lateMs: 100,
  }),
  daemonSetController: Object.freeze({
    /** Pods created or deleted in one look at most. */
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
    /** A pod that was to be disrupted and still lives after this time was spared after all. */
    staleMs: 2 * 60_000,
  }),
  endpointsController: Object.freeze({
    settleMs: 50,
    /** More addresses than this are cut, and the object says so (upstream's rule). */
    addressesMax: 1_000,
  }),
  endpointsliceController: Object.freeze({
    /** A burst of pod changes (a rollout) becomes one look at the service. */
    settleMs: 50,
  }),
  mirrorPlan: Object.freeze({
    /** Addresses of one subset that are mirrored; the rest is left out. Upstream's default. */
    addressesMax: 1_000,
  }),
  absentOwners: Object.freeze({
    /** Owners remembered as absent. A uid never comes back, so an entry is true for ever. */
    entriesMax: 500,
  }),
  garbageCollector: Object.freeze({
    discoverEveryMs: 30_000,
    syncPollMs: 200,
  }),
  resourceMonitors: Object.freeze({
    /** A resource that does not sync for so long (a broken webhook, say) does not hold up the others. */
    syncPatienceMs: 30_000,
  }),
  recentDiscovery: Object.freeze({
    /** Kinds come seldom: one that was made just now is known after this. */
    recentMs: 30_000,
  }),
  scaleTarget: Object.freeze({
    attemptsMax: 5,
  }),
  jobController: Object.freeze({
    /** Many pods end at the same time: one look for all of them. */
    podDelayMs: 50,
  }),
  podGcController: Object.freeze({
    checkMs: 20_000,
    /** A pod whose node was gone at one look and still is at the next is an orphan. */
    quarantineMs: 40_000,
  }),
  resourceQuotaController: Object.freeze({
    /** Everything is counted anew this often. */
    recountMs: 300_000,
    /** How long to wait for a kind that is counted and that the server does not serve. */
    absentMs: 30_000,
    /** One look for many changes. */
    changeDelayMs: 500,
  }),
  legacyTokenCleanerController: Object.freeze({
    checkMs: 24 * 3_600_000,
  }),
  serviceCidrController: Object.freeze({
    /** Those who give addresses out learn of the deletion before the range is gone. Upstream's figure. */
    graceMs: 10_000,
  }),
})
