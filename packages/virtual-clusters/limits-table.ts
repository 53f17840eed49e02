/**
 * Bounds of virtual clusters that no caller sets, by the file that keeps them: `namespaceContent` is namespace-content.ts.
 */
export const virtualClusterBounds = Object.freeze({
  namespaceContent: Object.freeze({
    /** Kubernetes itself puts far fewer objects of one kind into a namespace. */
    pageObjectsMax: 20,
  }),
  nodeGroupController: Object.freeze({
    /** The delay that collects the changes of many nodes into one look, in milliseconds. */
    settleMs: 200,
    /** A disruption budget may hold a pod for long; it is tried again as often at least. */
    evictionRetryMs: 30_000,
  }),
  planGroups: Object.freeze({
    /** Names become parts of others (karmada-es-<name>), which must stay within 63. */
    nameCharsMax: 48,
    /** A status lists at most this many conflicts, and the number of further ones. */
    problemsMax: 10,
  }),
  virtualClusterController: Object.freeze({
    /** The interval between checks of a virtual cluster that is leaving, in milliseconds. */
    leavingCheckMs: 1_000,
    /** A hub that is away is tried again after this at the latest. */
    retryMsMax: 30_000,
  }),
  virtualClusterSetController: Object.freeze({
    /**
     * The delay that collects several changes into one, in milliseconds: a new branch often comes with several
     * nodes.
     */
    settleMs: 500,
  }),
  virtualClusterTasks: Object.freeze({
    /** Each round takes a connection to the hub, and the agent's other requests need some, too. */
    roundsAtOnceMax: 8,
    retry: Object.freeze({ initialMs: 500, maxMs: 30_000, jitter: 0.5 }),
  }),
  edgeKinds: Object.freeze({
    /** The lifetime of a known kind, in milliseconds: a kind may be deleted and recreated with another scope. */
    freshMs: 60_000,
    /** The time for which a missing kind is not looked up again, in milliseconds. */
    absentMs: 5_000,
  }),
  edgeNames: Object.freeze({
    /** The owners of deleted namespaces that are kept for late events about their objects, at most. */
    goneNamespacesMax: 10_000,
  }),
  shownObject: Object.freeze({
    /** Deeper than any kind nests. Values below this depth stay as they are. */
    depthMax: 200,
  }),
  namespaceRule: Object.freeze({
    namespaceCharsMax: 63,
  }),
  emptyNamespaceController: Object.freeze({
    graceMs: 300_000,
    closedMs: 5_000,
    keptMs: 600_000,
  }),
})

export const viewLimits = Object.freeze({
  /** The limit of a request; API servers accept no more. */
  requestBytesMax: 3 * 1024 * 1024,
  /** The limit of an answer, which is whole in memory while it is rewritten. */
  answerBytesMax: 64 * 1024 * 1024,
  /** The number of answers above the next bound that may be in memory at the same time. */
  longAnswersMax: 2,
  smallAnswerBytes: 1024 * 1024,
  /** The limit of an answer about one object. */
  objectBytesMax: 8 * 1024 * 1024,
  /** Upstream's own bound: compressing smaller answers is not worth the time. */
  compressedBytesMin: 128 * 1024,
  /** The number of attempts at a patch while other clients write the same object. */
  patchAttemptsMax: 5,
  /** The number of concurrent questions to the edge for one request. */
  questionsMax: 8,
})
