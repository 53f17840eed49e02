/** Every bound of the API server in one place; `createApiServer` takes a partial override. */
export interface ApiServerLimits {
  readonly bodyBytesMax: number
  /** One object as it is stored, with its managedFields; etcd's own limit, and that of the store. */
  readonly objectBytesMax: number
  /** Everybody who can authenticate may ask what they may do; a question has a few hundred bytes. */
  readonly selfReviewBytesMax: number
  /** The bodies of all requests in flight. Beyond it, users with a large body or many bodies get Too Many Requests. */
  readonly bodiesBytesMax: number
  readonly bodiesBytesPerUserMax: number
  /** Users take turns with larger bodies, one of each at a time, and rest as long as the last one took. */
  readonly largeBodyBytes: number
  readonly largeBodiesAtOnceMax: number
  /** Bounds the large bodies in progress, with the stored objects that they change. A larger one is worked on alone. */
  readonly largeBytesAtOnceMax: number
  readonly largeBodyRestMsMax: number
  /** A request whose step lasts this long waits for somebody else, e.g. a webhook, which may need a turn, too. */
  readonly largeBodyAwayMs: number
  /** For a request that is neither a watch nor another long-running one. */
  readonly requestTimeoutMs: number
  /** A longer text is read in a thread of its own: the worst of this length holds the event loop for 20 ms. */
  readonly yamlHereCharactersMax: number
  /** For one text; the thread ends with it. */
  readonly yamlMs: number
  /** For 3 MB as people write it, and a half more. */
  readonly yamlHeapMegabytes: number
  /** All texts that wait for the thread. Beyond it, Too Many Requests. */
  readonly yamlWaitingCharactersMax: number
  readonly yamlWaitingPerUserMax: number
  /** A thread that nobody needs ends after it. */
  readonly yamlIdleMs: number
  readonly readsInFlightMax: number
  readonly writesInFlightMax: number
  /** How long a request waits for its turn under priority and fairness; a quarter of its time. */
  readonly turnWaitMs: number
  /** How often seats that a priority level does not need are lent anew. */
  readonly seatSharingMs: number
  readonly watchersMax: number
  /** A watch without timeoutSeconds ends after this to twice this, so that clients spread out. */
  readonly watchTimeoutMinMs: number
  readonly bookmarkMs: number
  /** Events that wait for one slow reader; beyond it the watch is closed and the client resumes. */
  readonly watcherEventsMax: number
  readonly watcherBytesMax: number
  /** Past events kept per resource for watches that resume. */
  readonly historyEventsMax: number
  /** Of them, as JSON; beyond it the oldest go, but for `historyEventsMin`, which upstream keeps at least. */
  readonly historyBytesMax: number
  readonly historyEventsMin: number
  /** How long a read waits for the cache to reach the revision it asked for. */
  readonly freshReadMs: number
  /**
   * All answers that wait for their readers. Beyond it, the user who holds the most loses the oldest answer. Their
   * encryption and its buffers take as much again.
   */
  readonly unreadBytesMax: number
  readonly unreadBytesPerUserMax: number
  /** A list or watch whose reader takes nothing for so long ends. */
  readonly awayReaderMs: number
  /** The size of a reader's first piece. Later pieces grow to `chunkBytes` as it reads. */
  readonly firstPieceBytes: number
  readonly gzipBytesMin: number
  /** Lists are written in pieces of this size; not below `gzipBytesMin`, which the first piece is compared with. */
  readonly chunkBytes: number
  readonly loadPageEntries: number
  readonly patchAttemptsMax: number
  readonly updateAttemptsMax: number
  readonly generateNameAttemptsMax: number
  readonly deleteWorkers: number
  readonly warningsBytesMax: number
  readonly headerBytesMax: number
  readonly streamsPerConnectionMax: number
  readonly handshakeMs: number
  /** For a trusted proxy to say where a connection comes from. */
  readonly proxyHeaderMs: number
  /** TLS handshakes in progress at once, but for slow ones; half of them of one address. */
  readonly handshakesMax: number
  /** Of them, begun in one pass of the event loop, before others are served again; more where passes are long. */
  readonly handshakesAtOnceMax: number
  /** A handshake that takes longer waits for its client, and no longer counts. */
  readonly quickHandshakeMs: number
  /** Connections that wait for their handshake's turn; beyond it the one that waits longest is closed. */
  readonly waitingHandshakesMax: number
  /** For as long as this. Clients wait for ten seconds and more. */
  readonly handshakeWaitMs: number
  /** From a connection's start, or the end of the request before, to the last header. */
  readonly headerReadMs: number
  /** To the last byte of the body. */
  readonly requestReadMs: number
  /** A connection without a request is closed after it. */
  readonly idleConnectionMs: number
}

export const apiServerLimits: ApiServerLimits = Object.freeze({
  bodyBytesMax: 3 * 1024 * 1024,
  objectBytesMax: 1.5 * 1024 * 1024,
  selfReviewBytesMax: 64 * 1024,
  bodiesBytesMax: 96 * 1024 * 1024,
  bodiesBytesPerUserMax: 24 * 1024 * 1024,
  largeBodyBytes: 256 * 1024,
  largeBodiesAtOnceMax: 4,
  largeBytesAtOnceMax: 2 * 1024 * 1024,
  largeBodyRestMsMax: 10_000,
  largeBodyAwayMs: 1_000,
  requestTimeoutMs: 60_000,
  yamlHereCharactersMax: 2_048,
  yamlMs: 5_000,
  yamlHeapMegabytes: 128,
  yamlWaitingCharactersMax: 16 * 1024 * 1024,
  yamlWaitingPerUserMax: 4,
  yamlIdleMs: 10_000,
  readsInFlightMax: 400,
  writesInFlightMax: 200,
  turnWaitMs: 15_000,
  seatSharingMs: 10_000,
  watchersMax: 20_000,
  watchTimeoutMinMs: 1_800_000,
  bookmarkMs: 60_000,
  watcherEventsMax: 10_000,
  watcherBytesMax: 32 * 1024 * 1024,
  historyEventsMax: 1_000,
  historyBytesMax: 8 * 1024 * 1024,
  historyEventsMin: 100,
  freshReadMs: 3_000,
  unreadBytesMax: 48 * 1024 * 1024,
  unreadBytesPerUserMax: 16 * 1024 * 1024,
  awayReaderMs: 60_000,
  firstPieceBytes: 64 * 1024,
  gzipBytesMin: 128 * 1024,
  chunkBytes: 128 * 1024,
  loadPageEntries: 1_000,
  patchAttemptsMax: 5,
  updateAttemptsMax: 20,
  generateNameAttemptsMax: 8,
  deleteWorkers: 16,
  warningsBytesMax: 4 * 1024,
  headerBytesMax: 1024 * 1024,
  streamsPerConnectionMax: 250,
  handshakeMs: 32_000,
  proxyHeaderMs: 5_000,
  handshakesMax: 128,
  handshakesAtOnceMax: 2,
  quickHandshakeMs: 2_000,
  waitingHandshakesMax: 8_192,
  handshakeWaitMs: 9_000,
  headerReadMs: 32_000,
  requestReadMs: 300_000,
  idleConnectionMs: 90_000,
})

/**
 * Bounds of the API server that no caller sets, by the file that keeps them: `accessWebhook` is access-webhook.ts.
 */
export const apiServerBounds = Object.freeze({
  accessWebhook: Object.freeze({
    /** Questions with longer fields are asked each time: a cache of them could be made to fill memory. */
    cachedFieldCharsMax: 10_000,
  }),
  authorizerSession: Object.freeze({
    /** Checks that one evaluation may wait for; each costs a good part of any budget anyway. */
    checksMax: 100,
  }),
  serviceAccount: Object.freeze({
    /** A namespace's default account is made by a controller moments after the namespace. */
    defaultAccountTries: 10,
    triesEveryMs: 150,
  }),
  policyStatus: Object.freeze({
    retryMs: 1_000,
  }),
  remoteOpenApi: Object.freeze({
    /** Deeper descriptions could overflow the stack when the document is written. */
    levelsMax: 1_000,
  }),
  auditLog: Object.freeze({
    /** A full disk is tried again after so long. */
    retryMs: 1_000,
    /** Between two writes: lines that come meanwhile go together, as each write costs two threads their sleep. */
    restMs: 10,
  }),
  impersonation: Object.freeze({
    /** Askers whose last mode is remembered. */
    rememberedMax: 10_000,
  }),
  issuerKeys: Object.freeze({
    /** Documents of an issuer are small. */
    documentBytesMax: 1024 * 1024,
    requestTimeoutMs: 10_000,
    /** An unknown key makes us look again, but not more often than this. */
    refreshMsMin: 10_000,
  }),
  pushTurns: Object.freeze({
    restMsMin: 1,
    restMsMax: 20,
  }),
  customKinds: Object.freeze({
    pendingMax: 10_000,
    retryMs: 1_000,
  }),
  flowControl: Object.freeze({
    listSeatsMax: 10,
    writeSeatsMax: 10,
    eventMs: 5,
  }),
  priorityQueues: Object.freeze({
    /** A request is thought to take this long until its real time is known. */
    estimateMs: 3,
    handsMax: 4_096,
  }),
  represent: Object.freeze({
    /** Printing YAML takes a hundred times as long as printing JSON. */
    printedYamlBytesMax: 16 * 1024,
  }),
  watchSocket: Object.freeze({
    /** Clients of a watch have nothing to say. */
    messageBytesMax: 64 * 1024,
  }),
  compress: Object.freeze({
    /** One takes 500 kB in zlib for as long as its reader stays away, and shares four threads with all others. */
    streamsPerUserMax: 16,
    streamsMax: 64,
  }),
  handshakeTurns: Object.freeze({
    /** One pass of the event loop accepts one connection: for so many in a row nothing begins, for so long at most. */
    acceptingPassesMax: 32,
    acceptingMsMax: 20,
    inLongPassMax: 16,
  }),
  httpServer: Object.freeze({
    /** The kernel has fewer where it allows fewer; a thousand agents that come at once must not wait to ask again. */
    backlogMax: 4_096,
    /** More than the window that a client may fill unasked. */
    unreadBytesMax: 262_144,
  }),
  negotiate: Object.freeze({
    clausesMax: 32,
  }),
  outputTurns: Object.freeze({
    /** One pass of the event loop writes at most this much to all readers. Encrypting it takes about a millisecond. */
    passBytesMax: 256 * 1024,
    /** Tables cost more per byte. */
    passMsMax: 5,
  }),
  pacedOutput: Object.freeze({
    /** A piece that took longer than this to go was too large; one that took less could have been larger. */
    slowPieceMs: 5_000,
    quickPieceMs: 1_000,
  }),
  pushBody: Object.freeze({
    sharedPartsMax: 16,
  }),
  querySize: Object.freeze({
    /** Reading a hundred thousand takes half a second, and happens before it is known who asks. Go's own bound is 10,000. */
    parametersMax: 1_000,
  }),
  workTurns: Object.freeze({
    /** A step that takes longer than this is one of a few; others are served for at least so long. */
    restMsMax: 250,
  }),
  writeAnswer: Object.freeze({
    /** More would be copied more often than it is worth. */
    joinedBytesMax: 4_096,
  }),
  decodeObject: Object.freeze({
    depthMax: 100,
    /** Of one body; as many as a JSON body may have members and commas. */
    fieldsMax: 300_000,
  }),
  kindReader: Object.freeze({
    /** Objects that go to a webhook in one request. */
    convertedAtOnceMax: 500,
  }),
  registryErrors: Object.freeze({
    causeCharactersMax: 4 * 1024 * 1024,
  }),
  auditUnreadable: Object.freeze({
    /** To ask who a certificate names may take so long. */
    identifyMs: 10_000,
  }),
  lastingRequests: Object.freeze({
    /** So many are looked at together: the rest of the server goes on meanwhile. */
    atOnceMax: 16,
  }),
  addressRange: Object.freeze({
    /** Tries at random before the range is walked through. */
    randomTries: 16,
    /** A larger range is used only as far as this. */
    addressesMax: 65_536,
  }),
  nodePorts: Object.freeze({
    tries: 16,
  }),
  eviction: Object.freeze({
    triesMax: 20,
  }),
  otlpExporter: Object.freeze({
    /** How long a call may take when its caller sets no bound of its own. */
    callMs: 30_000,
  }),
  yamlReader: Object.freeze({
    /** The least that nests as deep as a body of YAML may. */
    stackMegabytes: 4,
    youngMegabytes: 8,
  }),
})
