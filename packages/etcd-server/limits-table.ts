/** The limits of a server that its operator may set. */
export interface EtcdServerLimits {
  /** The size of one request; etcd's --max-request-bytes. */
  requestBytesMax: number
  /** The number of compares, and of operations of each branch; etcd's --max-txn-ops. */
  txnOperationsMax: number
  /** The number of streams of one connection that are open at once. */
  streamsMax: number
  /** The size of the store above which only deletes and compactions are accepted; etcd's --quota-backend-bytes. */
  quotaBytes: number
  /** The interval at which a quiet watch that asks for it reports progress, in milliseconds. */
  progressNotifyMs: number
}

export const etcdServerDefaults: EtcdServerLimits = Object.freeze({
  requestBytesMax: 1_572_864,
  txnOperationsMax: 128,
  streamsMax: 4_096,
  quotaBytes: 2_147_483_648,
  progressNotifyMs: 600_000,
})

/** The bounds of the server that no caller sets, by the file that keeps them; times are in milliseconds. */
export const etcdServerBounds = Object.freeze({
  messageCodec: Object.freeze({
    depthMax: 32,
    /** The number of fields of one message; a request of etcd's size may name millions of empty ones. */
    fieldsMax: 100_000,
  }),
  messageFramer: Object.freeze({
    /** The memory for the next message that is kept after a larger one. */
    keptBytes: 65_536,
  }),
  grpcServer: Object.freeze({
    connectionsMax: 10_000,
    headerBytesMax: 16_384,
    headerPairsMax: 64,
    /** The margin of a message above the size of a request; etcd's own. */
    overheadBytes: 524_288,
    /** The size of messages of all streams that have arrived in part. */
    partialBytesMax: 67_108_864,
    /** The size of answers of all streams that their readers have not taken. */
    unreadBytesMax: 268_435_456,
    /** The size of answers of one stream above which it gets no more until its reader has taken some. */
    streamUnreadBytesMax: 1_048_576,
    /** The time in which a request must arrive. */
    arriveMs: 60_000,
    /** The time in which a reader must take some of an answer. */
    unreadMs: 60_000,
    /** The time from the connection to its first bytes. */
    prefaceMs: 10_000,
    /** The time in which calls end by themselves when the server stops. */
    drainMs: 2_000,
    /** The idle time after which the kernel asks whether the peer is still there. */
    keepAliveMs: 30_000,
    /** The bytes of one connection that may be on their way to the server. */
    windowBytes: 1_048_576,
    /** The number of messages of one stream that wait to be handled. */
    waitingMessagesMax: 256,
  }),
  deadlines: Object.freeze({
    /** The number of open requests for each millisecond between two looks for late ones, which take a hundredth of the time. */
    requestsPerMs: 1_000,
  }),
  gateway: Object.freeze({
    /** The most that JSON makes of a request: base64 takes a third more, and names and spaces take some. */
    growth: 2,
  }),
  jsonWriter: Object.freeze({
    /** The length of a piece of an answer, after which other calls get through. */
    pieceChars: 262_144,
  }),
  etcdEngine: Object.freeze({
    limits: Object.freeze({
      writesWaitingMax: 20_000,
      groupWritesMax: 512,
      groupBytesMax: 4_194_304,
      /** The number of changes that a watch reads between two turns of the event loop. */
      historyRows: 1_000,
    }),
    /** A watch that catches up sends about this much in one answer. */
    historyBytesMax: 1_048_576,
    /** The number of changes that a compaction looks at in one transaction. */
    scrubRows: 500,
    walPagesMax: 2_000,
    idMax: 2 ** 52,
    /** An empty etcd is at revision 1. */
    firstRevision: 1,
  }),
  giveBackPages: Object.freeze({
    /** The number of free pages that one step gives back, at first and at most. */
    pagesAtFirst: 64,
    pagesMax: 512,
    /** The time that a step aims for, in milliseconds. */
    stepMs: 5,
  }),
  leaseTable: Object.freeze({
    /** The delay before the removal of an expired lease is tried again, e.g. after the disk was full. */
    retryMs: 1_000,
    /** The number of expired leases that are removed at once, and the pause before the next ones, in milliseconds. */
    expiredAtOnceMax: 1_000,
    pauseMs: 100,
    /** The number of leases for each millisecond between two looks for expired ones, which take a hundredth of the time. */
    leasesPerMs: 1_000,
  }),
  watchEvents: Object.freeze({
    /** The most that the frame of an event adds to its keys and values. */
    eventHeadBytes: 128,
  }),
  watchStream: Object.freeze({
    /** The number of watches of one stream. */
    watchesMax: 10_000,
  }),
  leaseService: Object.freeze({
    /** etcd's bounds of a time to live, in seconds; the least follows from its time of an election. */
    ttlSecondsMin: 2,
    ttlSecondsMax: 9_000_000_000,
    leasesMax: 1_000_000,
  }),
  snapshotMaker: Object.freeze({
    /** The number of snapshots that are on their way at once; each has a file next to the store. */
    snapshotsMax: 4,
  }),
  engineRecords: Object.freeze({
    /** The number of changes that are read between two turns of the event loop; each may have a megabyte. */
    sliceRows: 64,
  }),
  sendSnapshot: Object.freeze({
    /** The size of one answer; etcd's own. */
    chunkBytes: 32_768,
  }),
  passwordHash: Object.freeze({
    hashesAtOnceMax: 2,
    hashesWaitingMax: 64,
    saltBytes: 16,
    hashBytes: 32,
  }),
  tokenTable: Object.freeze({
    /** The life of a token after its last use; etcd's --auth-token-ttl. */
    lifeMs: 300_000,
    tokensMax: 100_000,
  }),
  authStore: Object.freeze({
    usersMax: 10_000,
    rolesMax: 10_000,
    permissionsMax: 10_000,
    nameBytesMax: 1_024,
  }),
  hashHistory: Object.freeze({
    /** The number of changes that are hashed between two turns of the event loop. */
    sliceRows: 500,
  }),
  engineTransaction: Object.freeze({
    /** The number of keys that a delete reads at once, without their values. */
    deletedAtOnceMax: 1_000,
    /** A larger value that a put supersedes is read again if a watch wants it. */
    keptBytesMax: 65_536,
  }),
  txnChecks: Object.freeze({
    /** The number of compares and operations of a transaction with all nested ones. */
    stepsMax: 10_000,
  }),
  txnBudget: Object.freeze({
    /** The time of a transaction, in which nobody else is served. */
    turnMs: 2_000,
    /** The size of what it reads. */
    bytesMax: 67_108_864,
    /** The memory of an entry in addition to its key and value. */
    keyValueBytes: 256,
  }),
  kvService: Object.freeze({
    /** The bytes that etcd adds to a request before it compares its size. */
    envelopeBytes: 18,
  }),
  readRange: Object.freeze({
    /** The number of keys that are read, and counted, between two turns of the event loop. */
    sliceKeys: 1_000,
    /** The size of such a slice, and of a part of an answer that is written at once. */
    sliceBytes: 1_048_576,
    countKeys: 5_000,
    /** The size of one answer. */
    answerBytesMax: 536_870_912,
  }),
})
