/**
 * The contract of a store: a revisioned key-value log, in etcd's words. SQLite is the embedded
 * engine, etcd the distributed one; both pass store-contract.ts.
 * Values are opaque bytes; keys are UTF-8 text ordered by bytes.
 */
export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** Revision at which this key last came into being. */
  readonly createRevision: number
  /** Revision of this value. */
  readonly modRevision: number
  /** Set if the stored bytes are not those that were written; `value` is empty then. */
  readonly isDamaged?: true
}

export interface StoreEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  /** The new value; for a delete, the last value before it. */
  readonly value: Uint8Array
  readonly modRevision: number
  readonly createRevision: number
  /** Set if the stored bytes are not those that were written; `value` is empty then. */
  readonly isDamaged?: true
  /** What was there before a put; absent when the key was created. */
  readonly previous?: Entry
}

/** All events of one or more whole revisions, in order; an empty batch is progress. */
export interface WatchBatch {
  readonly events: readonly StoreEvent[]
  /** Everything at or below this revision has been delivered. */
  readonly revision: number
}

export interface ListOptions {
  prefix: string
  /** Exclusive: continue after this key. */
  after?: string
  /** 0 or absent: no limit. */
  limit?: number
  /** Read as of this revision; absent or 0: now. Throws CompactedError, FutureRevisionError. */
  revision?: number
}

export interface ListResult {
  /** The revision the list was read at. */
  readonly revision: number
  readonly entries: readonly Entry[]
  /** True when `limit` cut the list. */
  readonly more: boolean
  /** Entries that follow the cut. */
  readonly remaining: number
}

export interface Write {
  key: string
  /** Absent: delete. */
  value?: Uint8Array
  /** The write applies only if the key is at this modRevision; 0: only if it does not exist; absent: always. */
  expectRevision?: number
  /** The key goes when this lease expires. */
  leaseId?: number
  /** True for a put that is a step of a delete: like a delete, it may use the reserve of a full disk. */
  isDeleteStep?: boolean
}

export type WriteResult =
  | { readonly isApplied: true; readonly revision: number; readonly previous?: Entry }
  /** The expectation failed; `current` is what is there instead. */
  | { readonly isApplied: false; readonly revision: number; readonly current?: Entry }

export interface Store extends AsyncDisposable {
  /** The newest durable revision; at least 1. */
  revision(): Promise<number>
  get(key: string, revision?: number): Promise<{ revision: number; entry?: Entry }>
  list(options: ListOptions): Promise<ListResult>
  /** Resolves only when the write is durable. A delete of a missing key is applied and changes nothing. */
  write(write: Write): Promise<WriteResult>
  /**
   * Events after `afterRevision` (0: from now on) for keys under the prefix. Ends with
   * CompactedError when that history is gone, SlowWatcherError when the reader falls behind its bound.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchBatch>
  /** Forgets history below `revision`; reads and watches below it throw CompactedError. */
  compact(revision: number): Promise<void>
  compactedRevision(): Promise<number>
  /** Seconds, at least 1. */
  grantLease(ttlSeconds: number): Promise<{ leaseId: number }>
  keepLeaseAlive(leaseId: number): Promise<{ ttlSeconds: number }>
  revokeLease(leaseId: number): Promise<void>
}

export interface WatchOptions {
  prefix: string
  afterRevision: number
  /** Deliver an empty batch at least this often when nothing happens; absent: never. */
  progressMs?: number
}

/** The asked revision is older than the compacted one. */
export class CompactedError extends Error {
  override name = 'CompactedError'
  readonly compactedRevision: number
  constructor(compactedRevision: number) {
    super(`Cannot read history: revisions up to ${compactedRevision} are compacted`)
    this.compactedRevision = compactedRevision
  }
}

/** The asked revision has not happened yet. */
export class FutureRevisionError extends Error {
  override name = 'FutureRevisionError'
  readonly currentRevision: number
  constructor(asked: number, currentRevision: number) {
    super(`Cannot read revision ${asked}: the newest is ${currentRevision}`)
    this.currentRevision = currentRevision
  }
}

/** The watcher did not read its events in time; it must list again. */
export class SlowWatcherError extends Error {
  override name = 'SlowWatcherError'
}
