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
