/**
 * The limits of the service network that callers cannot set, by the file that enforces them: `dnsServer`
 * is for dns-server.ts.
 */
export const serviceProxyBounds = Object.freeze({
  dnsServer: Object.freeze({
    /** The number of forwarded queries in progress. Further ones are answered SERVFAIL. */
    forwardedMax: 1_000,
    /** The number of open TCP connections. A further one is closed at once. */
    connectionsMax: 100,
    connectionIdleMs: 10_000,
    queryBytesMax: 4_096,
    datagramBytesMax: 1_232,
    /** The length before a message over TCP has two bytes (RFC 1035, section 4.2.2). */
    messageBytesMax: 65_535,
    /** The number of tries for a free port: one that is free for UDP may be taken for TCP. */
    freePortTries: 20,
  }),
  forwarder: Object.freeze({
    /** Each resolver gets this long before the next is asked. */
    answerMsMax: 2_000,
    resolversMax: 3,
    /** RFC 1035, 4.1.1: every message begins with its id. */
    idBytes: 2,
  }),
  healthCheckPorts: Object.freeze({
    /** The number of open connections of one port. A further one is closed at once. */
    connectionsMax: 100,
    requestMsMax: 5_000,
  }),
  machinePorts: Object.freeze({
    /** The part of a list of sockets that is read: seven thousand lines. */
    fileBytesMax: 1024 * 1024,
  }),
  nodeNetwork: Object.freeze({
    /** How often changes by other programs are corrected. */
    checkMs: 10_000,
  }),
  nftTable: Object.freeze({
    /** The elements of one command; longer commands only make errors harder to read. */
    elementsPerCommandMax: 500,
  }),
  nft: Object.freeze({
    /** The size of the output: more than a table without its elements ever has. */
    outputBytesMax: 4 * 1024 * 1024,
  }),
  networkPolicies: Object.freeze({
    /** A burst of changes (a rollout) becomes one transaction. */
    settleMs: 50,
    firstWordMs: 10_000,
    /** How often the kernel is asked whether the rules still exist, because other programs flush them. */
    checkMs: 10_000,
  }),
  policySnapshot: Object.freeze({
    /** Changes within this time are written once. */
    settleMs: 2_000,
  }),
  runServiceNetwork: Object.freeze({
    /** Changes within this time are written to the snapshot once. */
    snapshotSettleMs: 2_000,
    routesSettleMs: 200,
    /** How often the routes are checked, because other programs delete them. */
    routesCheckMs: 10_000,
    /** How often the node's own pods are checked while the control plane is away. */
    localPodsMs: 1_000,
    dnsTtlSeconds: 5,
  }),
  serviceProxy: Object.freeze({
    /**
     * The least time between two transactions. A change after a quiet time is applied at once, because
     * people use a service as soon as its pods are ready; a burst (a rollout) becomes few transactions.
     */
    betweenMs: 100,
    /** How often the kernel is asked whether the rules still exist, because other programs flush them. */
    checkMs: 10_000,
    retry: Object.freeze({ initialMs: 200, maxMs: 30_000 }),
  }),
  kernelTable: Object.freeze({
    retry: Object.freeze({ initialMs: 200, maxMs: 30_000 }),
  }),
})
