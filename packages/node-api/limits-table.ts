/** The limits of the API on a node, for the server that it runs. */
export const nodeApiServerLimits = Object.freeze({
  watchersMax: 1_000,
  /** A watch ends after five to ten minutes, and its client shows its credentials again. */
  watchTimeoutMinMs: 300_000,
  historyEventsMax: 500,
  historyBytesMax: 2 * 1024 * 1024,
  historyEventsMin: 50,
  unreadBytesMax: 16 * 1024 * 1024,
  unreadBytesPerUserMax: 4 * 1024 * 1024,
  watcherEventsMax: 2_000,
  watcherBytesMax: 4 * 1024 * 1024,
  headerBytesMax: 64 * 1024,
  /** A pod on the same machine sends its request at once. */
  handshakeMs: 5_000,
  headerReadMs: 10_000,
  idleConnectionMs: 30_000,
  streamsPerConnectionMax: 100,
})

/** The limits of the API on a node that callers cannot set, by the file that keeps them. */
export const nodeApiBounds = Object.freeze({
  localApi: Object.freeze({
    requestsMax: 1_000,
    requestsPerAddressMax: 200,
    /** A client needs a connection for each watch over HTTP/1.1. */
    connectionsPerAddressMax: 256,
  }),
  link: Object.freeze({
    /** The interval of probes while nothing else shows that the control plane answers. */
    probeMs: 15_000,
    /** The interval while it does not answer. */
    awayProbeMs: 2_000,
    probeTimeoutMs: 3_000,
  }),
  passOn: Object.freeze({
    connectMs: 3_000,
    answerMs: 65_000,
    socketsMax: 256,
    idleSocketsMax: 8,
    idleSocketMs: 60_000,
  }),
  keepAnswer: Object.freeze({
    /** A larger answer is passed on and not kept. */
    answerBytesMax: 2 * 1024 * 1024,
  }),
  awayRefusals: Object.freeze({
    /** When a client that was refused asks again. */
    retryAfterSeconds: 10,
  }),
  nodeAnswers: Object.freeze({
    /** Questions to the control plane whose only purpose is to remember who may read what. */
    remembersAtOnceMax: 16,
    rememberMs: 10_000,
    /** A read that has waited for so long makes the node probe the control plane. */
    suspectMs: 2_000,
  }),
  copySet: Object.freeze({
    /** Copies at once. The one that was used longest ago goes first, but none that an operator named, and none with watches. */
    copiesMax: 64,
    /** The bytes of all copies, as JSON. */
    bytesMax: 64 * 1024 * 1024,
    /** One copy. A larger resource is passed on and not copied. */
    copyBytesMax: 32 * 1024 * 1024,
    /** Single objects that callers got by name. */
    singlesMax: 1_000,
    singlesBytesMax: 16 * 1024 * 1024,
    documentsMax: 200,
    documentsBytesMax: 16 * 1024 * 1024,
    /** A resource that could not be copied is tried again after so long. */
    tooLargeMs: 600_000,
    /** Scopes that are to be tried later. */
    laterMax: 100,
    /** A request waits for a new copy for so long, and then passes on. */
    syncWaitMs: 5_000,
  }),
  copiedResource: Object.freeze({
    retry: Object.freeze({ initialMs: 500, maxMs: 15_000 }),
    /** A copy that lost its reader's right waits for a reader's next request, or for so long. */
    refusedMs: 60_000,
    /** Events that the copy in memory has not taken yet. Above this, it is read from disk again. */
    batchesMax: 5_000,
  }),
  copyFile: Object.freeze({
    /** The whole file. Copies are far smaller; the rest is for its log and free pages. */
    bytesMax: 256 * 1024 * 1024,
    walPagesMax: 1_000,
    rightsMax: 2_000,
  }),
  offlineKinds: Object.freeze({
    /** The items of each list of a policy. */
    itemsMax: 100,
  }),
  writeJournal: Object.freeze({
    entriesMax: 10_000,
    /** One write, with the object before and after it. */
    entryBytesMax: 8 * 1024 * 1024,
    /** All writes. */
    bytesMax: 64 * 1024 * 1024,
    /** The whole file. The rest is for free pages and indexes. */
    fileBytesMax: 128 * 1024 * 1024,
    walPagesMax: 1_000,
    /** Absences whose revisions are remembered, for each resource. */
    spansMax: 8,
  }),
  writeMarks: Object.freeze({
    /** The journals whose newest entry an object names. */
    marksMax: 8,
  }),
  planReplay: Object.freeze({
    /** The values of a Conflict, as JSON. An object of the API has at most 1.5 MiB. */
    valuesBytesMax: 900 * 1024,
  }),
  replay: Object.freeze({
    retry: Object.freeze({ initialMs: 500, maxMs: 30_000 }),
    /** Times that one write is merged with an object that changes meanwhile, before the others wait no longer. */
    attemptsMax: 20,
    /** Changes of the node's Lease that raise the revision of the control plane above those of this node. */
    raisesMax: 10_000,
  }),
  writerTokens: Object.freeze({
    /** The shortest time for which a control plane gives tokens. */
    tokenSeconds: 600,
    tokenUseMs: 300_000,
    tokensMax: 200,
  }),
  podSessions: Object.freeze({
    /** Logs and sessions at once. */
    sessionsMax: 64,
    sessionsPerUserMax: 16,
  }),
  tokenAnswers: Object.freeze({
    /** The shortest life of a token that may be requested, as at a control plane, and the longest that a node gives. */
    secondsMin: 600,
    secondsMax: 3_600,
    /** The certificates of this node whose tokens are good here. */
    ownCertificatesMax: 2,
  }),
  writeAnswers: Object.freeze({
    /** When a client asks again whose write comes while the node reads what the control plane made of the others. */
    catchUpSeconds: 1,
    /** The body of an apply, which is kept as it came. */
    bodyBytesMax: 3 * 1024 * 1024,
    warningBytesMax: 4_096,
  }),
  identities: Object.freeze({
    tokensMax: 1_000,
    /** How long a token that the control plane accepted is accepted without another question. */
    acceptedMs: 60_000,
    refusedMs: 10_000,
    keysMs: 3_600_000,
    keySetBytesMax: 256 * 1024,
  }),
  rights: Object.freeze({
    allowedMs: 60_000,
    refusedMs: 10_000,
    /** The interval at which remembered rights are checked while the control plane answers. */
    checkMs: 300_000,
    /** The interval at which the node looks for accounts and policies whose rights it has not asked for. */
    advanceMs: 5_000,
    /** Rights that are asked for in advance, for accounts of pods on the node. */
    inAdvanceMax: 500,
    /** Rights that are asked for in case the control plane goes away, and the users who were seen here last. */
    inAbsenceMax: 500,
    usersMax: 20,
    /** The interval at which a right that hardly anybody has is asked for again after a refusal. */
    rareMs: 1_800_000,
    /** Questions at once. */
    checksAtOnce: 4,
  }),
})
