/** The limits of the API server. `createApiServer` takes a partial override. */
export interface ApiServerLimits {
  readonly bodyBytesMax: number
  /** The size of one stored object with its managedFields. etcd has the same limit, as does the store. */
  readonly objectBytesMax: number
  /** Every authenticated user may ask for its own rights. A question has a few hundred bytes. */
  readonly selfReviewBytesMax: number
  /**
   * The bodies of all requests in flight. Above this, users with a large body or many bodies get
   * Too Many Requests.
   */
  readonly bodiesBytesMax: number
  readonly bodiesBytesPerUserMax: number
  /**
   * Above this size, users take turns: one body of each user at a time, followed by a rest as long
   * as its processing.
   */
  readonly largeBodyBytes: number
  /** A body's first bytes that are read as they arrive; the rest is read in turns. */
  readonly freeReadBytes: number
  /** The bytes of bodies that are read in turns in one pass of the event loop. */
  readonly readBytesPerPass: number
  readonly largeBodiesAtOnceMax: number
  /** Large bodies at once, including those whose requests wait for another server, such as a webhook. */
  readonly largeBodiesOpenMax: number
  /**
   * The bytes of all large bodies in progress, including the stored objects that they change. A body
   * that exceeds it runs alone.
   */
  readonly largeBytesAtOnceMax: number
  readonly largeBodyRestMsMax: number
  /** A request whose step lasts this long waits for something else, e.g. a webhook, which may need a turn itself. */
  readonly largeBodyAwayMs: number
  /** The timeout of a request that is neither a watch nor otherwise long-running. */
  readonly requestTimeoutMs: number
  /**
   * A longer text is parsed in a separate thread. The worst text of this length blocks the event
   * loop for 20 ms.
   */
  readonly yamlHereCharactersMax: number
  /** The time for one text. The thread ends with it. */
  readonly yamlMs: number
  /** Enough for 3 MB of ordinary YAML, and half as much again. */
  readonly yamlHeapMegabytes: number
  /** All texts that wait for the thread. Above this, clients get Too Many Requests. */
  readonly yamlWaitingCharactersMax: number
  readonly yamlWaitingPerUserMax: number
  /** The idle time after which the thread ends. */
  readonly yamlIdleMs: number
  readonly readsInFlightMax: number
  readonly writesInFlightMax: number
  /** How long a request waits for its turn under priority and fairness: a quarter of its time. */
  readonly turnWaitMs: number
  /** The interval at which unused seats of priority levels are redistributed. */
  readonly seatSharingMs: number
  readonly watchersMax: number
  /** A watch without timeoutSeconds ends after one to two times this, so that clients spread out. */
  readonly watchTimeoutMinMs: number
  readonly bookmarkMs: number
  /** The events that wait for one slow reader. Above this, the watch is closed and the client resumes. */
  readonly watcherEventsMax: number
  readonly watcherBytesMax: number
  /** The number of past events kept per resource, for watches that resume. */
  readonly historyEventsMax: number
  /**
   * The size of these events as JSON. Above it the oldest are dropped, except for
   * `historyEventsMin`, which upstream always keeps.
   */
  readonly historyBytesMax: number
  readonly historyEventsMin: number
  /** How long a read waits until the cache reaches the requested revision. */
  readonly freshReadMs: number
  /**
   * The unread bytes of all answers. Above this, the user with the most loses the oldest answer.
   * Encryption and its buffers take as much again.
   */
  readonly unreadBytesMax: number
  readonly unreadBytesPerUserMax: number
  /** A list or watch ends if its reader takes nothing for this long. */
  readonly awayReaderMs: number
  /** The size of a reader's first piece. Later pieces grow to `chunkBytes` as it reads. */
  readonly firstPieceBytes: number
  readonly gzipBytesMin: number
  /** The size of a list's pieces. At least `gzipBytesMin`, with which the first piece is compared. */
  readonly chunkBytes: number
  readonly loadPageEntries: number
  readonly patchAttemptsMax: number
  readonly updateAttemptsMax: number
  readonly generateNameAttemptsMax: number
  readonly deleteWorkers: number
  readonly warningsBytesMax: number
  readonly headerBytesMax: number
  readonly streamsPerConnectionMax: number
  /** The requests on one connection of a browser at which it gets no further one that may last. */
  readonly browserStreamsMax: number
  readonly handshakeMs: number
  /** The time in which a trusted proxy must send the client's address. */
  readonly proxyHeaderMs: number
  /** The number of simultaneous TLS handshakes, not counting slow ones. One address may use half of them. */
  readonly handshakesMax: number
  /**
   * The number of handshakes begun in one pass of the event loop, before other requests are served.
   * Longer passes begin more.
   */
  readonly handshakesAtOnceMax: number
  /** A handshake that takes longer is waiting for its client and is no longer counted. */
  readonly quickHandshakeMs: number
  /**
   * The number of connections that wait for their handshake. Above this, the longest waiting one is
   * closed.
   */
  readonly waitingHandshakesMax: number
  /** How long a connection waits for its handshake. Clients wait for ten seconds or more. */
  readonly handshakeWaitMs: number
  /** The time from the start of a connection, or from the end of the previous request, to the last header. */
  readonly headerReadMs: number
  /** The time to the last byte of the body. */
  readonly requestReadMs: number
  /** The time after which a connection without a request is closed. */
  readonly idleConnectionMs: number
}

export const apiServerLimits: ApiServerLimits = Object.freeze({
  bodyBytesMax: 3 * 1024 * 1024,
  objectBytesMax: 1.5 * 1024 * 1024,
  selfReviewBytesMax: 64 * 1024,
  bodiesBytesMax: 96 * 1024 * 1024,
  bodiesBytesPerUserMax: 24 * 1024 * 1024,
  largeBodyBytes: 256 * 1024,
  freeReadBytes: 32 * 1024,
  readBytesPerPass: 512 * 1024,
  largeBodiesAtOnceMax: 4,
  largeBodiesOpenMax: 16,
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
  browserStreamsMax: 200,
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
 * The limits of the API server that callers cannot set, by the file that enforces them: `accessWebhook`
 * is for access-webhook.ts.
 */
export const apiServerBounds = Object.freeze({
  keyFence: Object.freeze({
    /** The number of times that a write is sealed again because the keys have changed meanwhile. */
    fenceTriesMax: 4,
  }),
  accessWebhook: Object.freeze({
    /**
     * Questions with longer fields are never cached; otherwise a client could use them to fill memory.
     */
    cachedFieldCharsMax: 10_000,
  }),
  authorizerSession: Object.freeze({
    /**
     * The number of checks that one evaluation may wait for. Each costs a good part of any budget
     * anyway.
     */
    checksMax: 100,
  }),
  serviceAccount: Object.freeze({
    /** A controller creates a namespace's default account moments after the namespace. */
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
    /** The time until a full disk is tried again. */
    retryMs: 1_000,
    /**
     * The pause between two writes. Lines that arrive meanwhile are written together, because each
     * write wakes two threads.
     */
    restMs: 10,
  }),
  impersonation: Object.freeze({
    /** The number of askers whose last mode is cached. */
    rememberedMax: 10_000,
  }),
  issuerKeys: Object.freeze({
    /** Documents of an issuer are small. */
    documentBytesMax: 1024 * 1024,
    requestTimeoutMs: 10_000,
    /** An unknown key triggers another fetch, but not more often than this. */
    refreshMsMin: 10_000,
  }),
  pushTurns: Object.freeze({
    restMsMin: 1,
    restMsMax: 20,
    /** The rest of the watches writes in the next turn. */
    turnMsMax: 20,
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
    /** The time that a request is assumed to take until its real duration is known. */
    estimateMs: 3,
    handsMax: 4_096,
  }),
  represent: Object.freeze({
    /** Printing YAML takes a hundred times as long as printing JSON. */
    printedYamlBytesMax: 16 * 1024,
  }),
  watchSocket: Object.freeze({
    /** Clients of a watch have nothing to send. */
    messageBytesMax: 64 * 1024,
  }),
  compress: Object.freeze({
    /**
     * Each stream takes 500 kB in zlib for as long as its reader stays away, and shares four threads
     * with all others.
     */
    streamsPerUserMax: 16,
    streamsMax: 64,
  }),
  handshakeTurns: Object.freeze({
    /**
     * One pass of the event loop accepts one connection. No handshake begins for this many passes in a
     * row, or this time.
     */
    acceptingPassesMax: 32,
    acceptingMsMax: 20,
    inLongPassMax: 16,
    /**
     * After a long pass more handshakes begin: one per 8 ms, which is a quarter of the time, up to the
     * maximum.
     */
    msForEach: 8,
  }),
  health: Object.freeze({
    /** The time of one check, after which it has failed; upstream's of etcd, in milliseconds. */
    answerMs: 2_000,
  }),
  httpServer: Object.freeze({
    /** The kernel may allow fewer. A thousand agents that connect at once must not have to retry. */
    backlogMax: 4_096,
    /** Larger than the window that a client may fill unasked. */
    unreadBytesMax: 262_144,
  }),
  negotiate: Object.freeze({
    clausesMax: 32,
  }),
  outputTurns: Object.freeze({
    /**
     * The bytes that one pass of the event loop writes to all readers. Encrypting them takes about a
     * millisecond.
     */
    passBytesMax: 256 * 1024,
    /** The time limit of one pass, because Tables cost more per byte. */
    passMsMax: 5,
  }),
  pacedOutput: Object.freeze({
    /** A piece that took longer than this was too large; one that took less could have been larger. */
    slowPieceMs: 5_000,
    quickPieceMs: 1_000,
  }),
  pushBody: Object.freeze({
    sharedPartsMax: 16,
  }),
  querySize: Object.freeze({
    /**
     * Parsing a hundred thousand takes half a second, and happens before authentication. Go's own limit
     * is 10,000.
     */
    parametersMax: 1_000,
  }),
  workTurns: Object.freeze({
    /** The longest rest after a step. Few steps take longer than this. */
    restMsMax: 250,
  }),
  writeAnswer: Object.freeze({
    /** Copying larger bodies costs more than it saves. */
    joinedBytesMax: 4_096,
  }),
  decodeObject: Object.freeze({
    depthMax: 100,
    /** The number of fields in one body, equal to the limit of members and commas in a JSON body. */
    fieldsMax: 300_000,
  }),
  kindReader: Object.freeze({
    /** The number of objects that go to a webhook in one request. */
    convertedAtOnceMax: 500,
  }),
  registryErrors: Object.freeze({
    causeCharactersMax: 4 * 1024 * 1024,
  }),
  auditUnreadable: Object.freeze({
    /** The timeout for finding the user whom a certificate names. */
    identifyMs: 10_000,
  }),
  lastingRequests: Object.freeze({
    /** The number of requests that are checked together; the rest of the server goes on meanwhile. */
    atOnceMax: 16,
  }),
  addressRange: Object.freeze({
    /** The number of random tries before the range is searched. */
    randomTries: 16,
    /** Only this many addresses of a larger range are used. */
    addressesMax: 65_536,
  }),
  nodePorts: Object.freeze({
    tries: 16,
  }),
  eviction: Object.freeze({
    triesMax: 20,
    /** The number of evictions that a budget's controller has not seen yet. With more, the budget is stuck. */
    disruptedPodsMax: 2000,
  }),
  otlpExporter: Object.freeze({
    /** The timeout of a call whose caller sets none. */
    callMs: 30_000,
  }),
  yamlReader: Object.freeze({
    /** The smallest text that nests as deep as a YAML body may. */
    stackMegabytes: 4,
    youngMegabytes: 8,
  }),
  authorizationConfig: Object.freeze({
    conditionsMax: 64,
    timeoutMsMax: 30_000,
  }),
  defaultTolerationSeconds: Object.freeze({
    tolerationSeconds: 300,
  }),
  existingPods: Object.freeze({
    podsCheckedMax: 3_000,
  }),
  typeCheck: Object.freeze({
    /** Upstream's limit of kinds that one policy is checked against. */
    kindsMax: 10,
  }),
  checkIssuers: Object.freeze({
    issuersMax: 64,
  }),
  nodeTokenVerifier: Object.freeze({
    /** The longest life of a token that a node has signed, whatever the token says. */
    secondsMax: 3_600,
  }),
  nodeTokenAuthenticator: Object.freeze({
    /** The certificates of nodes whose issuer was checked. */
    issuedCertificates: Object.freeze({ entriesMax: 1_000, ttlMs: 3_600_000 }),
  }),
  serviceAccountAuthenticator: Object.freeze({
    /**
     * The seconds by which clocks may differ, and for which a bound object may already be deleted.
     * Upstream's value.
     */
    leewaySeconds: 60,
    /** The cache of tokens whose signatures were verified. */
    verifiedTokens: Object.freeze({ entriesMax: 4_096, ttlMs: 600_000 }),
  }),
  create: Object.freeze({
    /** Leaves room for the suffix within a label's 63 characters. */
    generatedBaseMax: 58,
  }),
  serviceAccountToken: Object.freeze({
    secondsMin: 600,
    secondsMax: 2 ** 32,
    extendedSeconds: 365 * 24 * 3600,
  }),
  tracingConfig: Object.freeze({
    rateMax: 1_000_000,
  }),
})

export const auditLogDefaults = Object.freeze({
  fileBytesMax: 64 * 1024 * 1024,
  filesMax: 5,
  fileAgeMsMax: Number.POSITIVE_INFINITY,
  waitingBytesMax: 16 * 1024 * 1024,
})

/** Upstream's values, as far as it has them. */
export const auditWebhookDefaults = Object.freeze({
  bufferMax: 10_000,
  batchMax: 400,
  batchMs: 30_000,
  pauseMs: 100,
  retryMs: 10_000,
  timeoutMs: 150_000,
  lastMs: 5_000,
})

export const staticTokenDefaults = Object.freeze({
  /** OWASP's second profile for Argon2id: 19 MiB, two passes, one lane. */
  memoryKiB: 19_456,
  passes: 2,
  /** One hash runs at a time. This many requests wait, in total and per id, before others are refused. */
  waitingMax: 64,
  waitingPerIdMax: 8,
  /** Longer texts cannot be tokens and are refused unread. */
  secretCharsMax: 128,
  /** Only good tokens are cached, so guesses cannot evict them. */
  cacheEntriesMax: 4_096,
  cacheTtlMs: 60_000,
})

export const kmsLimits = Object.freeze({
  /** The number of former seeds that are kept open. */
  ciphersMax: 1_024,
  /** How often a plugin's status is checked, while it is healthy and while it is not. */
  healthyLookMs: 60_000,
  unhealthyLookMs: 10_000,
  /** How long a seed is used for writing after the plugin was last healthy. */
  seedLivesMs: 180_000,
  keyIdBytesMax: 1_024,
  ciphertextBytesMax: 1_024,
})

/** The limits of authentication and authorization webhooks. */
export const accessWebhookLimits = Object.freeze({
  /** The largest answer. Reviews are small. */
  answerBytesMax: 1024 * 1024,
  /** The number of tries of one review, including the first. */
  attemptsMax: 5,
  retryMs: 500,
  retryFactor: 1.5,
  retryJitter: 0.2,
  /** The number of decisions and users that are cached. */
  cachedMax: 8_192,
  /** The limit of a whole token review, including its retries. */
  tokenTimeoutMs: 10_000,
})

/** Upstream's budgets, in CEL cost units. */
export const policyLimits = Object.freeze({
  /** The budget of one expression. */
  callCostMax: 1_000_000,
  /**
   * The budget of all validations, messages and variables of one policy with one binding and one
   * parameter.
   */
  bindingCostMax: 10_000_000,
  /** The budget of the match conditions of one webhook, or of one policy with one binding. */
  conditionsCostMax: 2_500_000,
  messageBytesMax: 5 * 1024,
  auditValueBytesMax: 10 * 1024,
})

/** The limits of this server's own requests to extension servers. */
export const aggregationLimits = Object.freeze({
  handshakeTimeoutMs: 10_000,
  /** The timeout of one availability check, as upstream. */
  checkTimeoutMs: 5_000,
  /** Each remote APIService is checked again after this time at the latest. */
  checkIntervalMs: 30_000,
  checksAtOnce: 16,
  retryMinMs: 500,
  retryMaxMs: 30_000,
  /** OpenAPI documents are fetched again after this time. */
  openApiIntervalMs: 60_000,
  discoveryBytesMax: 4 * 1024 * 1024,
  openApiBytesMax: 16 * 1024 * 1024,
})

/** The limits of scraping nodes for the metrics API. */
export const metricsLimits = Object.freeze({
  /** The interval between two scrapes of a node while figures are being requested. */
  askedIntervalMs: 15_000,
  /** The interval between two scrapes of a node otherwise. */
  idleIntervalMs: 60_000,
  /** How long figures count as being requested after a request. */
  askedMs: 5 * 60_000,
  scrapeTimeoutMs: 10_000,
  /** The age from which a container has a rate of its own lifetime. */
  ageMinMs: 10_000,
  nodesAtOnce: 8,
  answerBytesMax: 8 * 1024 * 1024,
  containersPerNodeMax: 2_000,
})

/** The limits of connections to nodes and pods. Streams themselves may be idle for any time. */
export const connectLimits = Object.freeze({
  /** The timeout of TCP and TLS together. */
  dialTimeoutMs: 30_000,
  /** The time from the request to the first byte of its answer. */
  answerHeadTimeoutMs: 60_000,
  /** TCP keep-alive probes start after this much silence. */
  keepAliveMs: 15_000,
  /** The part of a backend's refusal that goes into the message. */
  errorBodyBytesMax: 50_000,
  /** The bytes kept in memory per direction of an upgraded connection. */
  upgradeBufferBytes: 65_536,
  /** The length of a tag in a page that is passed on; a longer one keeps its links. */
  tagBytesMax: 65_536,
})

/** The limits of calls to webhooks. */
export const webhookLimits = Object.freeze({
  /** The size of an answer; the largest is a patch, or a list of converted objects. */
  answerBytesMax: 64 * 1024 * 1024,
  /** The part of a refusal other than a Status that goes into the message. */
  errorTextMax: 2048,
  /** The length of an answer in YAML in place of JSON. */
  yamlCharactersMax: 2_048,
  /** The number of unused kept-alive connections to one webhook. */
  idleConnectionsMax: 8,
  idleMs: 90_000,
  /** The number of webhooks, by address and authority, whose connections are kept. */
  clientsMax: 200,
  /** The number of retries after answers with a Retry-After, within the call's timeout. */
  retriesMax: 10,
  defaultTimeoutMs: 10_000,
  conversionTimeoutMs: 30_000,
})
