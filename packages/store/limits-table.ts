export const compactionDefaults = Object.freeze({ keepMs: 300_000 })

/** The defaults of calls to etcd; times are in milliseconds. */
export const etcdCallDefaults = Object.freeze({
  /** The timeout of one call to one member. */
  callMs: 5_000,
  /** The time to find a member that answers, and for all tries of a read. */
  findMs: 10_000,
  pauseMs: 50,
  /** The size of a page of a list; a larger one is requested in smaller parts. */
  answerBytesMax: 64 * 1024 * 1024,
})

/** The defaults of questions to one member about its cluster, in milliseconds. */
export const etcdClusterDefaults = Object.freeze({
  callMs: 5_000,
  /** A large file on a slow disk takes long. */
  defragmentMs: 600_000,
})

/** The limits of the embedded store. */
export interface StoreLimits {
  /** The size of one value; etcd's default request limit. */
  valueBytesMax: number
  keyBytesMax: number
  /** The number of further keys that one write may change. */
  companionsMax: number
  /** The number of writes that wait for a commit. Further ones are refused with StoreBusyError. */
  writesWaitingMax: number
  /** The number of writes that share one transaction. */
  groupWritesMax: number
  /** A group closes once its values reach this size. */
  groupBytesMax: number
  /** The number of events that wait for one watcher. More end it with SlowWatcherError. */
  watcherEventsMax: number
  /** The size of the values in those events. */
  watcherBytesMax: number
  watchersMax: number
  leasesMax: number
  /** The number of entries read between two turns of the event loop. */
  listSliceEntries: number
  /** The number of entries counted between two turns of the event loop. */
  countSliceEntries: number
  /** The number of lists read page by page whose remainder is cached. */
  pagedListsMax: number
  /** The number of revisions replayed between two turns of the event loop. */
  replaySliceRevisions: number
  /** The number of revisions scrubbed in one transaction of a compaction. */
  compactionSliceRevisions: number
  /** The number of rows that a backup copies between two turns of the event loop. */
  backupSliceRows: number
  /** The interval at which the remaining time of leases is saved. */
  leaseCheckpointMs: number
  /** The number of damaged values that are each named in the log. */
  damageReportsMax: number
  /** How long a relaxed write waits for a durable one, in milliseconds; a power cut may lose as much. */
  relaxedDelayMs: number
  /** The size of the values of relaxed writes that wait. */
  relaxedBytesMax: number
  /** The number of revisions for relaxed writes that are promised at once. */
  relaxedRevisions: number
  /** A compaction that looks at no more revisions is relaxed. */
  relaxedCompactionRevisions: number
  /** The write-ahead log is merged into the main file when it has this many pages. */
  walPagesMax: number
}

export const storeLimitDefaults = Object.freeze({
  valueBytesMax: 1_572_864,
  keyBytesMax: 4_096,
  companionsMax: 20_000,
  writesWaitingMax: 20_000,
  groupWritesMax: 512,
  groupBytesMax: 4_194_304,
  watcherEventsMax: 10_000,
  watcherBytesMax: 33_554_432,
  watchersMax: 20_000,
  leasesMax: 100_000,
  listSliceEntries: 1_000,
  countSliceEntries: 5_000,
  pagedListsMax: 256,
  replaySliceRevisions: 1_000,
  compactionSliceRevisions: 500,
  backupSliceRows: 500,
  leaseCheckpointMs: 60_000,
  damageReportsMax: 1_000,
  relaxedDelayMs: 300_000,
  relaxedBytesMax: 262_144,
  relaxedRevisions: 1_000,
  relaxedCompactionRevisions: 200,
  walPagesMax: 2_000,
})

/**
 * The limits of the store that callers cannot set, by the file that enforces them: `diskReserve` is for
 * disk-reserve.ts.
 */
export const storeBounds = Object.freeze({
  diskReserve: Object.freeze({
    reserveBytes: 8 * 1_048_576,
    chunkBytes: 1_048_576,
  }),
  etcdChannel: Object.freeze({
    /** How long a member that has not failed may take to connect before one that has is used again. */
    elsewhereMs: 1_000,
  }),
  etcdFeed: Object.freeze({
    /** How long a known change may take to arrive before etcd is asked for its progress. */
    lateMs: 50,
    /** The pause before a watch that cannot be restarted is tried again, in milliseconds. */
    restartMs: 1_000,
  }),
  etcdSnapshot: Object.freeze({
    /** The time after which a snapshot that does not arrive any more is given up. */
    silentMs: 60_000,
  }),
  etcdStore: Object.freeze({
    /** etcd's own limit, 1.5 MiB, applies to a whole request; the rest is for the key and its frame. */
    valueBytesMax: 1_572_864 - 16_384,
    /** etcd's own limit is 128 operations in a transaction, the write itself included. */
    companionsMax: 120,
    /** Numbers are exact up to this bound; ids chosen by etcd would exceed it. */
    leaseIdMax: 2 ** 47,
    /** The time for an answer when the user of the store stops, before the last calls fail. */
    lastAnswerMs: 2_000,
  }),
  fileTurn: Object.freeze({
    /** The average interval at which a waiting process looks again. */
    lookMs: 50,
  }),
  leaseBook: Object.freeze({
    /** The delay before the removal of an expired lease is tried again, e.g. after the disk was full. */
    retryMs: 1_000,
    leaseIdMax: 2 ** 52,
  }),
  storeRows: Object.freeze({
    /** The number of rows that are read between two turns of the event loop. */
    sliceRows: 500,
  }),
  storeFromRows: Object.freeze({
    /** The number of gaps between revisions that are remembered for rows without one of their own. */
    gapsMax: 65_536,
  }),
  storeFile: Object.freeze({
    /**
     * The pages that SQLite keeps for a connection: enough for those above the leaves. The system keeps the others, and
     * 64 writers and readers of 50,000 keys are as fast as with 8 MiB, in a process that is some 8 MB smaller.
     */
    cacheKibibytes: 2_048,
  }),
  etcdWatch: Object.freeze({
    retry: Object.freeze({ initialMs: 50, maxMs: 2_000 }),
  }),
})

export const storeLockDefaults = Object.freeze({
  /** How long a dead holder is waited for. */
  ttlSeconds: 15,
  /** The interval at which a living holder renews the lock. */
  renewMs: 5_000,
})
