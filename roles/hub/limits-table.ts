export const registrationDefaults = Object.freeze({
  requiresAcceptance: false,
  reEnrolmentGraceMs: 30 * 86_400_000,
})

/** Bounds of roles/hub that no caller sets, by the file that keeps them. */
export const hubBounds = Object.freeze({
  hub: Object.freeze({
    /** A user who loses a right is out within this time. A look at 10,000 watches takes about a second. */
    accessCheckMs: 10_000,
  }),
  hubSide: Object.freeze({
    /** The hub hands the token to the machine itself, which uses it at once. */
    tokenTtlSeconds: 3_600,
    /** A person carries the token of an import to the cluster, and finds a new one there if it takes longer. */
    importTtlSeconds: 24 * 3_600,
    /** A token that is valid for no longer than this is replaced. */
    renewMs: 3_600_000,
    /** How often the list of programs is compared with the files. */
    listProgramsMs: 60_000,
  }),
  nodeJoinRoute: Object.freeze({
    bodyBytesMax: 16_384,
    labelsMax: 32,
    ttlSecondsDefault: 3_600,
    ttlSecondsMin: 60,
    ttlSecondsMax: 7 * 86_400,
  }),
  userSite: Object.freeze({
    /** For all requests of one question to a cluster. */
    timeoutMs: 20_000,
    /** For all answers to it: some 10,000 nodes. */
    bytesMax: 64 * 1024 * 1024,
  }),
  registrationsRoute: Object.freeze({ bodyBytesMax: 4_096 }),
  usersRoute: Object.freeze({
    bodyBytesMax: 16_384,
    groupsMax: 64,
    ttlSecondsMin: 60,
    ttlSecondsMax: 10 * 366 * 86_400,
  }),
  policyPreview: Object.freeze({
    bodyBytesMax: 262_144,
    replicasMax: 1_000_000,
  }),
})
