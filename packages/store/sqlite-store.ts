import {
  asError,
  systemRandom,
  type Clock,
  type Logger,
  type Random,
  type Timer,
} from '@skerry/base'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { markClosed, recover } from './boot.ts'
import { DiskReserve } from './disk-reserve.ts'
import { GroupCommit, type GroupSize, type Transaction } from './group-commit.ts'
import { HeldWrites } from './held-writes.ts'
import { prefixRange } from './key-range.ts'
import { rememberBackup, restoreAdvice } from './last-backup.ts'
import { LeaseBook } from './lease-book.ts'
import { copyStore } from './sqlite-backup.ts'
import { sqliteFault, type Database } from './sqlite-database.ts'
import { PageRemainders, type PageCut } from './page-remainders.ts'
import { findRecentPlace } from './recent-place.ts'
import { RecentWrites } from './recent-writes.ts'
import { damagedRows } from './row-checksum.ts'
import { SqliteLog } from './sqlite-log.ts'
import { readMeta, writeMeta } from './file-schema.ts'
import { storeSchema } from './sqlite-schema.ts'
import { StoreClosedError } from './store-errors.ts'
import { closeStoreFile, openStoreFile, type CheckPolicy } from './store-file.ts'
import { validateLimits } from './validate-limits.ts'
import { CompactedError, FutureRevisionError } from './store.ts'
import type {
  CompanionWrite,
  Entry,
  ListOptions,
  ListResult,
  Store,
  WatchBatch,
  WatchOptions,
  Write,
  WriteResult,
} from './store.ts'
import { WatchHub } from './watch-hub.ts'
import { WriteMeter, type StoreCounters } from './write-meter.ts'
import { checkWrite, planWrite, refusingKey } from './write-plan.ts'
import { type StoreLimits } from './limits-table.ts'

export interface SqliteStoreOptions {
  /** Default: always. */
  check?: CheckPolicy
  /** Writes that would grow the file above this throw StoreFullError. If omitted, the disk is the limit. */
  bytesMax?: number
  limits?: Partial<StoreLimits>
  /** If true, 8 MiB next to the file are reserved for deletes on a full disk. Default: false. */
  hasReserve?: boolean
  /** Differs from that of the last open if the power may have been cut. Default: the kernel's. */
  bootId?: string
  /** A directory in memory for writes that may wait. Default: /dev/shm. If it is not in memory: next to the store. */
  recentDirectory?: string
}

export interface SqliteStoreDeps {
  clock: Clock
  log: Logger
  random?: Random
}

/**
 * Opens the embedded store: one file, one process, one writer. Calls into SQLite are synchronous,
 * so a turn of the event loop sees one state of the store; long work is split into slices. Throws
 * ExpectedError if the file cannot be used, with what to do about it.
 */
export async function openSqliteStore(
  path: string,
  options: SqliteStoreOptions,
  deps: SqliteStoreDeps,
  signal?: AbortSignal,
): Promise<SqliteStore> {
  signal?.throwIfAborted()
  const limits = validateLimits(options.limits ?? {})
  const { check = 'always', bytesMax } = options
  const file = {
    schema: storeSchema,
    check,
    walPagesMax: limits.walPagesMax,
    ...(bytesMax ? { bytesMax } : {}),
  }
  const database = await openStoreFile(path, file, deps.log)
  try {
    const reserve = options.hasReserve ? new DiskReserve(path) : undefined
    const place = findRecentPlace(path, options.recentDirectory)
    recoverOnFullDisk(() => recover(database, { path, place, bootId: options.bootId }), reserve)
    const parts = { recent: new RecentWrites(place), ...(reserve ? { reserve } : {}) }
    const store = new SqliteStore(database, limits, deps, { ...parts, path })
    if (check !== 'never') store.reportDamaged()
    return store
  } catch (error) {
    database.close()
    throw error
  }
}

/** Recent writes have a place on a full disk: deletes get the reserve back when there is space. */
function recoverOnFullDisk(work: () => void, reserve: DiskReserve | undefined): void {
  try {
    work()
  } catch (error) {
    if (sqliteFault(error) !== 'full' || !reserve?.release()) throw error
    work()
  }
}

interface StoreParts {
  readonly path: string
  readonly recent: RecentWrites
  readonly reserve?: DiskReserve
}

export class SqliteStore implements Store {
  readonly #database: Database
  readonly #limits: StoreLimits
  readonly #deps: SqliteStoreDeps
  readonly #log: SqliteLog
  readonly #leases: LeaseBook
  readonly #hub: WatchHub
  readonly #commits: GroupCommit
  readonly #held: HeldWrites
  readonly #recent: RecentWrites
  readonly #path: string
  readonly #meter = new WriteMeter()
  readonly #remainders: PageRemainders
  #revision: number
  #compacted: number
  /** Settles when no compaction or backup runs; they follow each other. */
  #upkeep: Promise<unknown> = Promise.resolve()
  #watchers = 0
  #isClosed = false
  /** Revisions of damaged values that were reported. */
  readonly #damaged = new Set<number>()
  #leaseCheckpoint: Timer | undefined

  /** For openSqliteStore, which has checked the file. */
  constructor(
    database: Database,
    limits: StoreLimits,
    deps: SqliteStoreDeps,
    { path, recent, reserve }: StoreParts,
  ) {
    this.#path = path
    this.#recent = recent
    this.#database = database
    this.#limits = limits
    this.#deps = deps
    this.#log = new SqliteLog(database, (key, at) => this.#onDamaged(key, at))
    this.#remainders = new PageRemainders(limits.pagedListsMax)
    this.#compacted = readMeta(database, 'compacted')
    this.#revision = Math.max(1, this.#log.newestRevision(), this.#compacted)
    const revision = (): number => this.#revision
    this.#hub = new WatchHub(limits, { clock: deps.clock, revision })
    const onCommitted = (transaction: Transaction): void => this.#onCommitted(transaction)
    const onDue = (): void => void this.#flush()
    const log = this.#log
    this.#held = new HeldWrites({ database, log, recent, clock: deps.clock, limits, onDue })
    this.#commits = new GroupCommit({
      database,
      limits,
      revision,
      onCommitted,
      held: this.#held,
      meter: this.#meter,
      ...(reserve ? { reserve } : {}),
    })
    const { clock, random = systemRandom } = deps
    const onExpired = (leaseId: number): void => this.#onLeaseExpired(leaseId)
    this.#leases = new LeaseBook({ database, clock, random, onExpired })
    this.#armLeaseCheckpoint()
  }

  /** Since the store was opened. */
  get counters(): StoreCounters {
    const { bytesWritten, writes } = this.#meter.counters
    return { bytesWritten: bytesWritten - this.#recent.bytesInMemory, writes }
  }

  async revision(): Promise<number> {
    this.#assertOpen()
    return this.#revision
  }

  async compactedRevision(): Promise<number> {
    this.#assertOpen()
    return this.#compacted
  }

  async get(key: string, revision = 0): Promise<{ revision: number; entry?: Entry }> {
    const at = this.#readableRevision(revision)
    const head = this.#log.head(key, at)
    return head ? { revision: at, entry: head.entry } : { revision: at }
  }

  async list(options: ListOptions): Promise<ListResult> {
    const revision = this.#readableRevision(options.revision ?? 0)
    const range = prefixRange(options.prefix)
    const limit = options.limit || Infinity
    const entries: Entry[] = []
    let after = options.after ?? ''
    for (;;) {
      const want = Math.min(this.#limits.listSliceEntries, limit - entries.length)
      const slice = this.#log.page({ range, revision, after, limit: want })
      entries.push(...slice)
      after = slice.at(-1)?.key ?? after
      if (slice.length < want) return { revision, entries, more: false, remaining: 0 }
      if (entries.length === limit) break
      await nextTurn()
      this.#readableRevision(revision)
    }
    const cut = { prefix: options.prefix, revision, after: options.after ?? '' }
    const remaining = await this.#remaining(cut, entries.length, after)
    return { revision, entries, more: remaining > 0, remaining }
  }

  async write(write: Write): Promise<WriteResult> {
    checkWrite(write, this.#limits)
    const { companions = [], requires = [], isRelaxed = false } = write
    const mayWait = isRelaxed && companions.length === 0
    const bytes = [write, ...companions].reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    const mayUseReserve = write.value === undefined || write.isDeleteStep === true
    const isAlone = companions.length === 0 && requires.length === 0
    return this.#commits.submit({ bytes, mayUseReserve, mayWait }, (transaction) =>
      isAlone
        ? this.#apply(write, transaction)
        : this.#applyTogether({ ...write, companions }, transaction),
    )
  }

  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchBatch> {
    this.#assertOpen()
    // "From now on" means from this call, even if the first read comes later.
    const afterRevision = options.afterRevision || this.#revision
    return this.#batches({ ...options, afterRevision }, signal)
  }

  async compact(revision: number): Promise<void> {
    this.#assertOpen()
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision)
    if (revision <= this.#compacted) throw new CompactedError(this.#compacted)
    const mayWait = revision - this.#compacted <= this.#limits.relaxedCompactionRevisions
    const work = { ...freeing, mayWait }
    await this.#commits.submit(work, () => writeMeta(this.#database, 'compacted', revision))
    this.#compacted = Math.max(this.#compacted, revision)
    await this.#afterUpkeep(() => this.#scrub(work))
  }

  async grantLease(ttlSeconds: number): Promise<{ leaseId: number }> {
    if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1) {
      throw new RangeError(
        `Cannot grant lease: ${ttlSeconds} is not a whole number of seconds above 0`,
      )
    }
    if (this.#leases.size >= this.#limits.leasesMax) {
      throw new RangeError(
        `Cannot grant lease: ${this.#limits.leasesMax} leases exist already, which is the limit`,
      )
    }
    const ttlMs = ttlSeconds * 1_000
    const leaseId = this.#leases.freeId()
    await this.#commits.submit({ bytes: 0 }, () => this.#leases.insert(leaseId, ttlMs))
    this.#leases.start(leaseId, ttlMs)
    return { leaseId }
  }

  async keepLeaseAlive(leaseId: number): Promise<{ ttlSeconds: number }> {
    this.#assertOpen()
    const { ttlMs } = this.#leases.require(leaseId)
    if (this.#leases.renew(leaseId)) {
      await this.#commits.submit(freeing, () => this.#leases.save(leaseId))
    }
    return { ttlSeconds: ttlMs / 1_000 }
  }

  async revokeLease(leaseId: number): Promise<void> {
    this.#assertOpen()
    this.#leases.require(leaseId)
    await this.#endLease(leaseId)
  }

  /**
   * Makes a consistent, verified copy as of the returned revision while writes go on. The target
   * must not exist. Compactions wait for it.
   */
  async backup(
    targetPath: string,
    signal?: AbortSignal,
  ): Promise<{ bytes: number; revision: number }> {
    this.#assertOpen()
    return this.#afterUpkeep(async () => {
      this.#assertOpen()
      // A copy cannot be attached to an open transaction.
      using _strict = this.#held.strictly()
      await this.#commits.flush()
      const { backupSliceRows: rowsPerSlice } = this.#limits
      const revision = (): number => this.#revision
      const source = { database: this.#database, log: this.#log, rowsPerSlice, revision }
      const copied = await copyStore(source, targetPath, signal)
      await this.#rememberBackup(targetPath, copied.revision)
      return copied
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#leaseCheckpoint?.[Symbol.dispose]()
    this.#leases[Symbol.dispose]()
    this.#commits.close()
    this.#hub.close(new StoreClosedError())
    this.#saveAtClose()
    this.#held[Symbol.dispose]()
    this.#meter[Symbol.dispose]()
    closeStoreFile(this.#database, this.#deps.log)
  }

  #saveAtClose(): void {
    try {
      this.#held.commit(() => {
        this.#leases.saveAll()
        markClosed(this.#database)
      })
      this.#recent.forget()
    } catch (error) {
      // The file of recent writes stays, and the next start reads it.
      this.#deps.log.error('Store not closed cleanly', { error: asError(error) })
    }
  }

  async #flush(): Promise<void> {
    try {
      await this.#commits.flush()
    } catch (error) {
      this.#deps.log.error('Recent writes not synced, trying again', { error: asError(error) })
    }
  }

  #apply(write: Write, transaction: Transaction): WriteResult {
    const { entry } = this.#log.head(write.key, transaction.revision) ?? {}
    const plan = planWrite(write, entry, transaction.revision)
    if (plan.row === undefined) return plan.result
    if (plan.row.leaseId !== 0) this.#leases.require(plan.row.leaseId)
    this.#log.append(plan.row)
    transaction.rows.push(plan.row)
    transaction.revision = plan.row.revision
    transaction.events.push(plan.event)
    return plan.result
  }

  /** Applies the companions first: the newest revision is that of the write itself. */
  #applyTogether(
    write: Write & { companions: readonly CompanionWrite[] },
    transaction: Transaction,
  ): WriteResult {
    const { revision } = transaction
    const { entry } = this.#log.head(write.key, revision) ?? {}
    const { row, result } = planWrite(write, entry, revision)
    if (row === undefined && !result.isApplied) return result
    const revisionOf = (key: string): number =>
      this.#log.head(key, revision)?.entry.modRevision ?? 0
    const refusedBy = refusingKey(write, revisionOf)
    if (refusedBy !== undefined) {
      return { isApplied: false, revision, refusedBy, ...(entry ? { current: entry } : {}) }
    }
    if (row !== undefined && row.leaseId !== 0) this.#leases.require(row.leaseId)
    for (const companion of write.companions) this.#apply(companion, transaction)
    return this.#apply(write, transaction)
  }

  #onCommitted(transaction: Transaction): void {
    this.#revision = transaction.revision
    if (transaction.events.length > 0) this.#hub.publish(transaction.events, transaction.revision)
  }

  async *#batches(options: WatchOptions, signal: AbortSignal): AsyncGenerator<WatchBatch, void> {
    if (this.#watchers >= this.#limits.watchersMax) {
      throw new RangeError(
        `Cannot watch: ${this.#watchers} watchers are open already, which is the limit`,
      )
    }
    this.#watchers += 1
    try {
      let afterRevision = options.afterRevision
      while (afterRevision < this.#revision) {
        signal.throwIfAborted()
        const batch = this.#replaySlice(options.prefix, afterRevision)
        afterRevision = batch.revision
        if (batch.events.length > 0) yield batch
        else await nextTurn()
      }
      this.#assertOpen()
      signal.throwIfAborted()
      // Nothing is awaited since the loop's last comparison, so no event falls in between.
      using live = this.#hub.subscribe({ ...options, afterRevision, signal })
      for (;;) yield await live.next()
    } finally {
      this.#watchers -= 1
    }
  }

  #replaySlice(prefix: string, after: number): WatchBatch {
    this.#assertOpen()
    if (after < this.#compacted) throw new CompactedError(this.#compacted)
    const to = Math.min(this.#revision, after + this.#limits.replaySliceRevisions)
    const bytesMax = this.#limits.groupBytesMax
    return this.#log.history({ range: prefixRange(prefix), after, to, bytesMax })
  }

  #afterUpkeep<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#upkeep.then(work)
    // The caller gets the failure; the next in line starts either way.
    this.#upkeep = result.then(nothing, nothing)
    return result
  }

  /** Works in slices, each in its own transaction, so that writes get through in between. */
  async #scrub(work: GroupSize): Promise<void> {
    let scrubbed = readMeta(this.#database, 'scrubbed')
    while (scrubbed < this.#compacted) {
      const after = scrubbed
      const to = this.#log.sliceEnd(after, this.#limits.compactionSliceRevisions, this.#compacted)
      await this.#commits.submit(work, () => {
        this.#log.scrub(after, to)
        writeMeta(this.#database, 'scrubbed', to)
      })
      scrubbed = to
      await nextTurn()
    }
  }

  /**
   * Returns the number of entries after `last`: known from the previous page, which was cut at
   * `cut`, or counted.
   */
  async #remaining(cut: PageCut, taken: number, last: string): Promise<number> {
    const known = this.#remainders.get(cut)
    const next = { ...cut, after: last }
    const remaining = known === undefined ? await this.#count(next) : known - taken
    this.#remainders.set(next, remaining)
    return remaining
  }

  async #count(cut: PageCut): Promise<number> {
    const { prefix, revision } = cut
    const limit = this.#limits.countSliceEntries
    let { after } = cut
    for (let total = 0; ; await nextTurn()) {
      this.#readableRevision(revision)
      const { count, last } = this.#log.count({
        range: prefixRange(prefix),
        revision,
        after,
        limit,
      })
      total += count
      if (count < limit) return total
      after = last
    }
  }

  /** Names every damaged value in the log. Reads the whole file. */
  reportDamaged(): void {
    const uncheckedMax = readMeta(this.#database, 'unchecked')
    for (const { key, revision } of damagedRows(this.#database, { uncheckedMax })) {
      this.#onDamaged(key, revision)
    }
  }

  async #rememberBackup(path: string, revision: number): Promise<void> {
    const time = new Date(this.#deps.clock.now()).toISOString()
    try {
      await rememberBackup(this.#path, { path, revision, time })
    } catch (error) {
      this.#deps.log.info('Backup made, but not remembered', { path, error: asError(error) })
    }
  }

  #onDamaged(key: string, revision: number): void {
    if (this.#damaged.has(revision) || this.#damaged.size >= this.#limits.damageReportsMax) return
    this.#damaged.add(revision)
    const advice = `${restoreAdvice(this.#path)}, and check the disk`
    this.#deps.log.error('Stored value is damaged', { key, revision, advice })
  }

  #onLeaseExpired(leaseId: number): void {
    this.#endLease(leaseId, { isExpiry: true }).catch((error: unknown) => {
      this.#deps.log.error('Lease not removed, trying again', { leaseId, error: asError(error) })
    })
  }

  async #endLease(leaseId: number, options = { isExpiry: false }): Promise<void> {
    await this.#commits.submit(freeing, (transaction) => {
      if (options.isExpiry && !this.#leases.isExpired(leaseId)) return
      for (const key of this.#log.leasedKeys(leaseId)) {
        if (this.#log.head(key, transaction.revision)?.leaseId !== leaseId) continue
        this.#apply({ key }, transaction)
      }
      this.#leases.remove(leaseId)
    })
    this.#leases.forget(leaseId)
  }

  #armLeaseCheckpoint(): void {
    this.#leaseCheckpoint = this.#deps.clock.setTimer(this.#limits.leaseCheckpointMs, () => {
      void this.#saveLeases()
      this.#armLeaseCheckpoint()
    })
  }

  async #saveLeases(): Promise<void> {
    if (this.#leases.size === 0) return
    try {
      const size = { ...freeing, mayWait: true }
      await this.#commits.submit(size, () => this.#leases.saveAll())
    } catch (error) {
      if (error instanceof StoreClosedError) return
      this.#deps.log.error('Remaining time of leases not saved', { error: asError(error) })
    }
  }

  /** Resolves 0 to the newest revision. */
  #readableRevision(asked: number): number {
    this.#assertOpen()
    if (asked === 0) return this.#revision
    if (asked > this.#revision) throw new FutureRevisionError(asked, this.#revision)
    if (asked < this.#compacted) throw new CompactedError(this.#compacted)
    return asked
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StoreClosedError()
  }
}

/** Operations that shrink the store, or preserve its content, continue while the disk is full. */
const freeing = Object.freeze({ bytes: 0, mayUseReserve: true })

function nothing(): void {}
