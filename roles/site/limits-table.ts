/** Bounds of roles/site that no caller sets, by the file that keeps them. */
export const siteBounds = Object.freeze({
  leadership: Object.freeze({
    /** How often a master that does not lead looks for the lease, on top of a random part, in milliseconds. */
    acquirePeriodMs: 1_000,
    /** Upstream's interval of the repair of node ports, in milliseconds. */
    repairMs: 180_000,
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
})
