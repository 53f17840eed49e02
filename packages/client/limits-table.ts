/** The limits of this package and their defaults. */
export const clientLimits = Object.freeze({
  /** The number of objects requested per page of a list. */
  pageObjectsMax: 500,
  /** The size of a whole answer that is kept in memory, e.g. one page of a list. */
  bodyBytesMax: 256 * 1024 * 1024,
  /** The number of objects in one list or informer. */
  listObjectsMax: 500_000,
  /** The number of pages in one list. Pages may be nearly empty if the server filters them. */
  listPagesMax: 10_000,
  /**
   * The size of one watch event: an object has at most about 3 MiB, escaped and with its
   * last-applied copy.
   */
  watchLineBytesMax: 16 * 1024 * 1024,
  /**
   * The server ends a watch after a time in [watchSecondsMin, 2 * watchSecondsMin), as client-go
   * requests.
   */
  watchSecondsMin: 300,
  /** Added to the requested watch time before the client considers a silent watch dead. */
  watchGraceMs: 30_000,
  /** The time from sending a request to the head of its answer. Upstream's server gives up after 60 s. */
  answerHeadTimeoutMs: 65_000,
  connectTimeoutMs: 10_000,
  /**
   * The same for a connection opened by the caller: proxies and further handshakes take round trips
   * of up to 600 ms.
   */
  wayTimeoutMs: 30_000,
  /** Unused kept-alive sockets are closed before the server does it after 90 s. */
  idleSocketMs: 60_000,
  keepAliveProbeMs: 15_000,
  /** The number of sockets. Each watch holds one. */
  socketsMax: 256,
  /**
   * The number of sockets kept for later requests. A socket beyond it is closed after its request: a burst of more requests
   * at once would pay for a TLS handshake with each.
   */
  freeSocketsMax: 64,
  /** The size of an answer's head, and of the trailers after it. */
  answerHeadBytesMax: 16_384,
  /** The length of the line with a chunk's size, in hexadecimal. */
  chunkLineBytesMax: 64,
  /** The number of 1xx answers before the final one. */
  interimAnswersMax: 16,
  execPluginTimeoutMs: 60_000,
  /** The time before a plugin is started again after a server refused its answer. */
  execPluginAgainMs: 10_000,
  execPluginOutputBytesMax: 1024 * 1024,
  /** A token file is read again when the copy in memory is older, as client-go does. */
  tokenFileMaxAgeMs: 60_000,
})

/**
 * The limits of the client that callers cannot set, by the file that enforces them: `eventRecorder` is for
 * event-recorder.ts.
 */
export const clientBounds = Object.freeze({
  apiServers: Object.freeze({
    /** The interval at which the server in use is probed. */
    probeMs: 5_000,
    probeTimeoutMs: 3_000,
    /** The pause before a server that failed a probe is probed again. */
    againMs: 500,
    /** A server that fails so many probes in a row is left. */
    failuresMax: 2,
    /** A preferred server is used again when it has answered for so long, up to twice as long. */
    steadyMs: 30_000,
    /** The interval at which the other servers are probed, up to twice as long. */
    othersMs: 60_000,
    /** A server that did not accept the client's credentials is not asked again for so long if another one refuses. */
    refusedMs: 10_000,
    serversMax: 16,
  }),
  serverRank: Object.freeze({
    /** Servers whose fastest answers came within the same of these times are as near, in milliseconds. */
    farMs: Object.freeze([15, 60, 200]),
  }),
  eventRecorder: Object.freeze({
    /**
     * The number of tries of one event while the server does not answer. It is then dropped, as
     * upstream does.
     */
    triesMax: 3,
    retryMs: 2_000,
  }),
  eventSeriesSink: Object.freeze({
    /**
     * The number of tries of one event while the server does not answer. It is then dropped. Upstream's
     * figures.
     */
    triesMax: 12,
    retryMs: 10_000,
  }),
  httpPool: Object.freeze({
    serverMarginMs: 1_000,
    /** One check of all connections costs less than a timer for each request. */
    sweepMs: 1_000,
  }),
  informer: Object.freeze({
    /** A shorter watch counts as failed, and the next one waits. */
    watchMsMin: 1_000,
    retry: Object.freeze({ initialMs: 800, jitter: 1 }),
  }),
  issuerFetch: Object.freeze({
    /** Documents and answers of an issuer are small. */
    answerBytesMax: 1024 * 1024,
    answerMsMax: 30_000,
  }),
  loopbackListener: Object.freeze({
    /** Enough for an issuer's answer in an address. */
    headerBytesMax: 32 * 1024,
  }),
  oidcIssuer: Object.freeze({
    textMax: 1_000,
  }),
  serverTime: Object.freeze({
    /** The time for the answer that shows a server's clock, in milliseconds. */
    answerMs: 20_000,
    bodyBytesMax: 65_536,
    /** The depth of causes that are looked through. */
    causesMax: 8,
  }),
  httpConnection: Object.freeze({
    /** Above this the server must wait. */
    readableHighWaterMark: 65_536,
  }),
})

/**
 * Keeps a chatty controller from filling the store with events: repeated events are counted on one
 * event, events that differ only in their message are combined, and each object has a budget. The
 * numbers are those of Kubernetes' own components, so that readers find what they are used to.
 */
export const eventLimits = Object.freeze({
  /** The number of objects and messages that are cached. */
  entriesMax: 4096,
  /** The number of distinct messages of one reason about one object before they are combined. */
  distinctMessagesMax: 10,
  /** Combining ends after this much silence. */
  combineMs: 600_000,
  /** The number of events about one object at once, and how fast the budget is refilled. */
  burst: 25,
  refillMs: 300_000,
  /** The number of events that wait to be sent. */
  queueMax: 1000,
})

/** The figures of upstream's recorder for events.k8s.io/v1. */
export const eventSeriesLimits = Object.freeze({
  /** A series that has not grown for this long is over, and a single event is forgotten. */
  quietMs: 6 * 60_000,
  /** Continuing events are written at this interval, with their count, so that the server keeps them. */
  refreshMs: 30 * 60_000,
})
