/**
 * The contract of a store: a revisioned key-value log, in etcd's words. SQLite is the embedded
 * engine, etcd the distributed one; both pass store-contract.ts.
 * Values are opaque bytes. Keys are UTF-8 text, ordered by bytes.
 */
export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** The revision at which this key was last created. */
  readonly createRevision: number
  /** The revision of this value. */
  readonly modRevision: number
  /** Set if the stored bytes are not those that were written; `value` is then empty. */
  readonly isDamaged?: true
}

export interface StoreEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  /** The new value; for a delete, the last value before it. */
  readonly value: Uint8Array
  readonly modRevision: number
  readonly createRevision: number
  /** Set if the stored bytes are not those that were written; `value` is then empty. */
  readonly isDamaged?: true
  /** The entry before a put; omitted if the put created the key. */
  readonly previous?: Entry
}

/** All events of one or more whole revisions, in order. An empty batch reports progress. */
export interface WatchBatch {
  readonly events: readonly StoreEvent[]
  /** Everything up to this revision has been delivered. */
  readonly revision: number
}

export interface ListOptions {
  prefix: string
  /** Continues after this key (exclusive). */
  after?: string
  /** The largest number of entries. If 0 or omitted, there is no limit. */
  limit?: number
  /**
   * Reads as of this revision. If 0 or omitted, reads the newest. Throws CompactedError or
   * FutureRevisionError.
   */
  revision?: number
}

export interface ListResult {
  /** The revision at which the list was read. */
  readonly revision: number
  readonly entries: readonly Entry[]
  /** True if `limit` cut the list. */
  readonly more: boolean
  /** The number of entries after the cut. */
  readonly remaining: number
}

export interface Write {
  key: string
  /** The new value. If omitted, the key is deleted. */
  value?: Uint8Array
  /**
   * The write applies only if the key has this modRevision; 0 means only if it does not exist. If
   * omitted, the write always applies.
   */
  expectRevision?: number
  /** The key is deleted when this lease expires. */
  leaseId?: number
  /** True for a put that is a step of a delete. Like a delete, it may use the reserve of a full disk. */
  isDeleteStep?: boolean
  /**
   * True if a power cut may lose the write: it is durable with the next durable write, or some minutes later. A killed
   * process loses none. Stores that make each write durable ignore it, and so do writes with companions.
   */
  isRelaxed?: boolean
  /** Writes of other keys that apply together with this one, or not at all. */
  companions?: readonly CompanionWrite[]
  /** Keys that must have these modRevisions for the write to apply, though they are not changed. */
  requires?: readonly RequiredRevision[]
}

export interface RequiredRevision {
  readonly key: string
  readonly revision: number
}

/** A write that another one brings along. It always has an expectation. */
export interface CompanionWrite {
  readonly key: string
  /** The new value. If omitted, the key is deleted. */
  readonly value?: Uint8Array
  readonly expectRevision: number
}

export type WriteResult =
  | { readonly isApplied: true; readonly revision: number; readonly previous?: Entry }
  /** The expectation failed; `current` is the existing entry. */
  | {
      readonly isApplied: false
      readonly revision: number
      readonly current?: Entry
      /** The required key or the companion whose expectation failed, if that of the write itself holds. */
      readonly refusedBy?: string
    }

export interface Store extends AsyncDisposable {
  /** Returns the newest revision, which a power cut may take back if its write is relaxed; at least 1. */
  revision(): Promise<number>
  get(key: string, revision?: number): Promise<{ revision: number; entry?: Entry }>
  list(options: ListOptions): Promise<ListResult>
  /**
   * Resolves only when the write is durable, or held if it is relaxed. A delete of a missing key is applied and changes nothing. With
   * companions, the revision in the result is that of the write itself, and no smaller than theirs.
   */
  write(write: Write): Promise<WriteResult>
  /**
   * Yields events after `afterRevision` (0 means from now on) for keys under the prefix. Throws
   * CompactedError if that history is gone, and SlowWatcherError if the reader falls too far
   * behind.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchBatch>
  /** Deletes history below `revision`. Reads and watches below it then throw CompactedError. */
  compact(revision: number): Promise<void>
  compactedRevision(): Promise<number>
  /** Takes a time in seconds, at least 1. */
  grantLease(ttlSeconds: number): Promise<{ leaseId: number }>
  keepLeaseAlive(leaseId: number): Promise<{ ttlSeconds: number }>
  revokeLease(leaseId: number): Promise<void>
}

export interface WatchOptions {
  prefix: string
  afterRevision: number
  /** Delivers an empty batch at least this often if nothing happens. If omitted, never. */
  progressMs?: number
}

/** Reports that the requested revision is older than the compacted one. */
export class CompactedError extends Error {
  override name = 'CompactedError'
  readonly compactedRevision: number
  constructor(compactedRevision: number) {
    super(`Cannot read history: revisions up to ${compactedRevision} are compacted`)
    this.compactedRevision = compactedRevision
  }
}

/** Reports that the requested revision has not happened yet. */
export class FutureRevisionError extends Error {
  override name = 'FutureRevisionError'
  readonly currentRevision: number
  constructor(asked: number, currentRevision: number) {
    super(`Cannot read revision ${asked}: the newest is ${currentRevision}`)
    this.currentRevision = currentRevision
  }
}

/** Reports that the watcher did not read its events in time. It must list again. */
export class SlowWatcherError extends Error {
  override name = 'SlowWatcherError'
}
