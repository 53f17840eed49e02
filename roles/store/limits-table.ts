/** The bounds of moving stores; times are in milliseconds. */
export const storeMoveBounds = Object.freeze({
  firstStart: Object.freeze({
    /** The time in which a new member of etcd serves and has written its first snapshot; a large store takes long. */
    serveMs: 300_000,
    lookMs: 50,
    /** The time in which etcd ends when it is asked to. */
    stopMs: 60_000,
    /** The end of its log that an error shows. */
    logChars: 2_000,
  }),
  siteRecords: Object.freeze({
    /** The number of other prefixes that an error names. */
    namedPrefixesMax: 5,
    /** Leases of the embedded store have smaller numbers. */
    leaseIdMax: 2 ** 52,
  }),
})
