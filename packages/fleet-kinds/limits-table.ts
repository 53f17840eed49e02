export const registrationDefaultTtlSeconds = 86_400

/** Bounds of the fleet’s kinds, by the file that keeps them. */
export const fleetKindsBounds = Object.freeze({
  clusterAccessKind: Object.freeze({
    /** Every request of one of the subjects looks through all of them. */
    subjectsMax: 1_000,
  }),
  clusterKind: Object.freeze({
    /** Names become parts of others (karmada-es-<name>, CSRs), which must stay within 63. */
    nameCharsMax: 48,
  }),
  clusterRegistration: Object.freeze({
    ttlSecondsMax: 366 * 86_400,
    /** The same limit as for Clusters: names become parts of other names. */
    nameCharsMax: 48,
  }),
  trafficContractKind: Object.freeze({
    clusterNamesMax: 10_000,
    priorityMax: 1_000_000,
  }),
})

/** The bounds of an agent's report on its own cluster; any real cluster stays within them. */
export const agentLimits = Object.freeze({
  labelsMax: 64,
  annotationBytesMax: 16 * 1024,
  zonesMax: 32,
  /** The limit of id, provider, region, zone and version. */
  textCharsMax: 128,
  conditionsMax: 16,
  groupVersionsMax: 1_000,
  resourceNamesMax: 256,
  statusBytesMax: 512 * 1024,
})
