/** Every bound of this package and its default, in one place. */
export const clientLimits = Object.freeze({
  /** Objects asked per page of a list. */
  pageObjectsMax: 500,
  /** A whole answer that is kept in memory, e.g. one page of a list. */
  bodyBytesMax: 256 * 1024 * 1024,
  /** The most objects in one list or informer. */
  listObjectsMax: 500_000,
  /** The most pages in one list. Pages may be nearly empty if the server filters them. */
  listPagesMax: 10_000,
  /** One event of a watch: an object is at most about 3 MiB, escaped and with its last-applied copy. */
  watchLineBytesMax: 16 * 1024 * 1024,
  /** The server ends a watch after a time in [watchSecondsMin, 2 * watchSecondsMin), as client-go asks. */
  watchSecondsMin: 300,
  /** Added to the asked watch time before the client calls a silent watch dead. */
  watchGraceMs: 30_000,
  /** From sending a request to the head of its answer. Upstream's server gives up after 60 s. */
  answerHeadTimeoutMs: 65_000,
  connectTimeoutMs: 10_000,
  /** The same by a way of the caller's: proxies and further handshakes take round trips, of 600 ms at worst. */
  wayTimeoutMs: 30_000,
  /** Kept-alive sockets that nobody uses are closed before the server's 90 s do it. */
  idleSocketMs: 60_000,
  keepAliveProbeMs: 15_000,
  /** Each watch holds one socket. */
  socketsMax: 256,
  freeSocketsMax: 8,
  /** Of an answer's head, and of the trailers after it. */
  answerHeadBytesMax: 16_384,
  /** The size of a piece of an answer, in hexadecimal. */
  chunkLineBytesMax: 64,
  /** Answers of 1xx before the answer. */
  interimAnswersMax: 16,
  execPluginTimeoutMs: 60_000,
  /** A plugin whose answer a server refuses is not started again before. */
  execPluginAgainMs: 10_000,
  execPluginOutputBytesMax: 1024 * 1024,
  /** A token file is read again when the copy in memory is older, as client-go does. */
  tokenFileMaxAgeMs: 60_000,
})

/**
 * Bounds of the client that no caller sets, by the file that keeps them: `eventRecorder` is event-recorder.ts.
 */
export const clientBounds = Object.freeze({
  eventRecorder: Object.freeze({
    /** Tries of one event while the server does not answer; then it is dropped, as upstream does. */
    triesMax: 3,
    retryMs: 2_000,
  }),
  eventSeriesSink: Object.freeze({
    /** Tries of one event while the server does not answer; then it is dropped. Upstream's figures. */
    triesMax: 12,
    retryMs: 10_000,
  }),
  httpPool: Object.freeze({
    serverMarginMs: 1_000,
    /** One look at all of them costs less than a timer for each request. */
    sweepMs: 1_000,
  }),
  informer: Object.freeze({
    /** A watch that lived shorter than this did not work: the next one waits. */
    watchMsMin: 1_000,
  }),
  issuerFetch: Object.freeze({
    /** Documents and answers of an issuer are small. */
    answerBytesMax: 1024 * 1024,
    answerMsMax: 30_000,
  }),
  loopbackListener: Object.freeze({
    /** An answer of an issuer in an address, and no more. */
    headerBytesMax: 32 * 1024,
  }),
  oidcIssuer: Object.freeze({
    textMax: 1_000,
  }),
})
