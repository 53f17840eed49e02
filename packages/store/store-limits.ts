/** Every bound of the embedded store, in one place. */
export interface StoreLimits {
  /** Size of one value; etcd's default request limit. */
  valueBytesMax: number
  keyBytesMax: number
  /** Writes that wait for a commit; more are refused with StoreBusyError. */
  writesWaitingMax: number
  /** Writes that share one transaction. */
  groupWritesMax: number
  /** A group closes once its values reach this size. */
  groupBytesMax: number
  /** Events that wait for one watcher; more end it with SlowWatcherError. */
  watcherEventsMax: number
  /** Bytes of the values in those events. */
  watcherBytesMax: number
  watchersMax: number
  leasesMax: number
  /** Entries read between two turns of the event loop. */
  listSliceEntries: number
  /** Entries counted between two turns of the event loop. */
  countSliceEntries: number
  /** Lists read page by page whose remainder is remembered. */
  pagedListsMax: number
  /** Revisions replayed between two turns of the event loop. */
  replaySliceRevisions: number
  /** Revisions scrubbed in one transaction of a compaction. */
  compactionSliceRevisions: number
  /** Rows copied between two turns of the event loop in a backup. */
  backupSliceRows: number
  /** How often the remaining time of leases is written down. */
  leaseCheckpointMs: number
  /** Damaged values that are each named in the log. */
  damageReportsMax: number
  /** The log of changes is folded into the main file when it has this many pages. */
  walPagesMax: number
}

export const storeLimitDefaults: Readonly<StoreLimits> = Object.freeze({
  valueBytesMax: 1_572_864,
  keyBytesMax: 4_096,
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
  walPagesMax: 2_000,
})

export function validateLimits(overrides: Partial<StoreLimits>): StoreLimits {
  const limits = { ...storeLimitDefaults, ...overrides }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(
        `Cannot open store: limit ${name} is ${value}, want a whole number above 0`,
      )
    }
  }
  return limits
}

/**
 * Bounds of the store that no caller sets, by the file that keeps them: `diskReserve` is disk-reserve.ts.
 */
export const storeBounds = Object.freeze({
  diskReserve: Object.freeze({
    reserveBytes: 8 * 1_048_576,
    chunkBytes: 1_048_576,
  }),
  etcdFeed: Object.freeze({
    /** How long a change that somebody knows of may take to arrive before etcd is asked how far it is. */
    lateMs: 50,
  }),
  etcdStore: Object.freeze({
    /** etcd's own bound, 1.5 MiB, is for a whole request: the rest is for the key and its frame. */
    valueBytesMax: 1_572_864 - 16_384,
  }),
  fileTurn: Object.freeze({
    /** How often somebody who waits looks again, on average. */
    lookMs: 50,
  }),
  leaseBook: Object.freeze({
    /** When the removal of an expired lease failed (disk full), it is tried again this much later. */
    retryMs: 1_000,
  }),
  storeFile: Object.freeze({
    cacheKibibytes: 8_192,
  }),
})
