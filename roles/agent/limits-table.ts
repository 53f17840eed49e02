/** Bounds of roles/agent that no caller sets, by the file that keeps them. */
export const agentBounds = Object.freeze({
  allowedDials: Object.freeze({
    /** The files of a directory, one for each machine of a cluster, and the bytes of each. */
    filesMax: 1_000,
    bytesMax: 4_096,
  }),
  agentMetricsServer: Object.freeze({
    /** Clients are scrapers; excess connections are cut off. */
    connectionsMax: 32,
    requestMs: 5_000,
  }),
  childIdentities: Object.freeze({
    /** The number of identities that may be requested at the same time. */
    openingMax: 16,
  }),
  hubTunnels: Object.freeze({
    /** A lease that lasts is renewed again at once, in milliseconds after the last tunnel ended; the hub waits for 40 s. */
    absentMs: 20_000,
    /** The time for the first dial to succeed or fail, and for the first tunnel to be there for watches. */
    firstMs: 10_000,
    watchFirstMs: 30_000,
    /** The time after which requests go over HTTPS, and watches: each of these takes a connection. */
    directMs: 20_000,
    watchDirectMs: 120_000,
  }),
  karmadaIdentities: Object.freeze({
    /** A token that has run out is not tried again with each request; another one is found within this. */
    retryMs: 15_000,
  }),
  karmadaIdentity: Object.freeze({
    /**
     * The lifetime of the certificate that writes the agent's rights, in seconds; API servers issue no shorter
     * ones.
     */
    generatorSeconds: 600,
  }),
  probeServer: Object.freeze({
    /** Clients are kubelets; excess connections are cut off. */
    connectionsMax: 32,
    requestMs: 5_000,
  }),
  virtualIdentities: Object.freeze({
    /** A hub that is away, or does not take one, is not asked again with each request. */
    retryMs: 5_000,
  }),
  leave: Object.freeze({
    look: Object.freeze({ initialMs: 500, maxMs: 5_000, jitter: 0.3 }),
  }),
  identitySecret: Object.freeze({
    retry: Object.freeze({ initialMs: 500, maxMs: 30_000, jitter: 0.5 }),
  }),
  untilRegistered: Object.freeze({
    retry: Object.freeze({ initialMs: 500, maxMs: 30_000, jitter: 0.5 }),
  }),
})
