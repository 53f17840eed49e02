import { asError, type Clock, type Logger, type Random } from '@skerry/base'
import {
  closeStoreFile,
  DiskReserve,
  GroupCommit,
  openStoreFile,
  pragma,
  readMeta,
  StoreClosedError,
  StoreFullError,
  WriteMeter,
  writeMeta,
  type Database,
  type StoreCounters,
  type Transaction,
} from '@skerry/store'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { etcdServerBounds } from '../limits-table.ts'
import {
  CompactedRevisionError,
  FutureRevisionError,
  NoLeaseError,
  NoSpaceError,
} from './engine-errors.ts'
import { historyOf, type EngineHistory } from './engine-history.ts'
import { EngineLog } from './engine-log.ts'
import { AuthTable } from './auth-table.ts'
import { damagedRows, engineSchema } from './engine-schema.ts'
import { EngineTransaction } from './engine-transaction.ts'
import { giveBackPages } from './give-back-pages.ts'
import { LeaseTable } from './lease-table.ts'
import type { KeyRange } from './key-range.ts'
import type { EngineEvent } from './key-value.ts'
import { WatcherSet, type Watcher } from './watcher-set.ts'

const { limits, historyBytesMax, scrubRows, walPagesMax, idMax, firstRevision } =
  etcdServerBounds.etcdEngine

export interface EtcdEngineOptions {
  /** The size of the file above which only deletes and compactions are accepted. */
  readonly quotaBytes: number
  /** If false, a full disk refuses deletes, too. Default: true. */
  readonly hasReserve?: boolean
}

export interface RequestSize {
  /** The number of bytes that the request adds to its group. */
  readonly bytes: number
  /** Default: false. */
  readonly isShrinking?: boolean
  /** True if it may throw after its first change. Default: false. */
  readonly mayFail?: boolean
}

export interface EtcdEngineDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly random: Random
}

/** Opens the file and checks it. Throws ExpectedError if it cannot be used. */
export async function openEtcdEngine(
  path: string,
  options: EtcdEngineOptions,
  deps: EtcdEngineDeps,
): Promise<EtcdEngine> {
  const file = { schema: engineSchema, check: 'always', walPagesMax } as const
  const database = await openStoreFile(path, { ...file, bytesMax: options.quotaBytes }, deps.log)
  const reserve = options.hasReserve === false ? undefined : new DiskReserve(path)
  const engine = new EtcdEngine(database, reserve, deps)
  engine.reportDamaged()
  return engine
}

/**
 * Keeps a revisioned log of bytes as etcd counts it: each request that changes something is one revision, and its
 * changes have places within it. Calls into SQLite are synchronous, so a turn of the event loop sees one state. An
 * acknowledged change is durable.
 */
export class EtcdEngine implements AsyncDisposable {
  readonly log: EngineLog
  readonly leases: LeaseTable
  readonly auth: AuthTable
  /** The number of changes since the start. */
  readonly counts = { puts: 0, deletes: 0, leasesGranted: 0, leasesRevoked: 0, leasesExpired: 0 }
  /** Called with the time that each group of writes took to become durable. */
  onCommitTimed: ((ms: number) => void) | undefined
  readonly clusterId: bigint
  readonly memberId: bigint
  readonly #database: Database
  readonly #deps: EtcdEngineDeps
  readonly #commits: GroupCommit<EngineEvent>
  readonly #watchers = new WatcherSet()
  readonly #meter = new WriteMeter()
  #revision: number
  #compacted: number
  #isOutOfSpace: boolean
  #upkeep: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(database: Database, reserve: DiskReserve | undefined, deps: EtcdEngineDeps) {
    this.#database = database
    this.#deps = deps
    this.auth = new AuthTable(database)
    this.log = new EngineLog(database, (position) => this.#onDamaged(position))
    this.#compacted = readMeta(database, 'compacted')
    this.#revision = Math.max(firstRevision, this.log.newestRevision(), this.#compacted)
    this.#isOutOfSpace = readMeta(database, 'isOutOfSpace') === 1
    this.clusterId = this.#idOf('clusterId')
    this.memberId = this.#idOf('memberId')
    const revision = (): number => this.#revision
    const onCommitted = (group: Transaction<EngineEvent>): void => this.#onCommitted(group)
    const meter = this.#meter
    const timed = <T>(commit: () => T): T => this.#timed(commit)
    const kept = reserve ? { reserve } : {}
    const parts = { database, limits, revision, onCommitted, meter, timed, ...kept }
    this.#commits = new GroupCommit(parts)
    const onExpired = (lease: bigint): void => this.#onLeaseExpired(lease)
    this.leases = new LeaseTable({ database, ...deps, onExpired })
  }

  /** The number of open watches. */
  get watcherCount(): number {
    return this.#watchers.size
  }

  /** The newest durable revision. */
  get revision(): number {
    return this.#revision
  }

  /** Since the store was opened. */
  get counters(): StoreCounters {
    return this.#meter.counters
  }

  /** Reads below it fail; 0 if nothing was compacted. */
  get compacted(): number {
    return this.#compacted
  }

  /** True from the first write that did not fit until somebody disarms the alarm. */
  get isOutOfSpace(): boolean {
    return this.#isOutOfSpace
  }

  /** Throws unless that revision can be read; 0 stands for the newest. Returns the one to read at. */
  readable(revision: number): number {
    this.#assertOpen()
    if (revision <= 0) return this.#revision
    if (revision > this.#revision) throw new FutureRevisionError()
    if (revision < this.#compacted) throw new CompactedRevisionError()
    return revision
  }

  /**
   * Runs `change` in a transaction of its own revision; resolves when it is durable. Unless it `mayFail`, it may throw
   * only before its first change. Only changes that shrink the store are accepted while it is out of space.
   */
  async transact<T>(
    { bytes, isShrinking = false, mayFail = false }: RequestSize,
    change: (transaction: EngineTransaction) => T,
  ): Promise<T> {
    this.#assertOpen()
    if (this.#isOutOfSpace && !isShrinking) throw new NoSpaceError()
    try {
      const size = { bytes, mayUseReserve: isShrinking }
      return await this.#commits.submit(size, (group) => {
        const run = (): T => change(new EngineTransaction(this.log, group))
        return mayFail ? this.#undone(group, run) : run()
      })
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error
      await this.setOutOfSpace(true)
      throw new NoSpaceError({ cause: error })
    }
  }

  watch(watcher: Watcher): void {
    this.#assertOpen()
    this.#watchers.add(watcher)
  }

  unwatch(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Returns events from a revision on, in whole revisions up to the returned one. Throws if that is compacted. */
  history(
    range: KeyRange,
    from: number,
    { hasPrevious }: { hasPrevious: boolean },
  ): { events: EngineEvent[]; revision: number } {
    this.#assertOpen()
    if (from < this.#compacted) throw new CompactedRevisionError()
    // A long quiet history is read in slices, too.
    const to = this.log.sliceEnd(from - 1, limits.historyRows, this.#revision)
    const slice = this.log.history({ range, from, to, bytesMax: historyBytesMax, hasPrevious })
    const events = slice.events.map((event) =>
      event.kv.modRevision - 1 < this.#compacted ? { ...event, previous: () => undefined } : event,
    )
    return { events, revision: slice.revision }
  }

  /** Calls with the history up to now; writes go on meanwhile, and compactions wait until it is done. */
  async withHistory<T>(read: (history: EngineHistory) => Promise<T>): Promise<T> {
    this.#assertOpen()
    const reading = this.#upkeep.then(() => {
      this.#assertOpen()
      const scrubbed = readMeta(this.#database, 'scrubbed')
      return read(historyOf(this, scrubbed))
    })
    this.#upkeep = reading.then(ignored, ignored)
    return reading
  }

  /** Makes revisions below this one unreadable, at once; `isDone` settles when their space is free. */
  async compact(revision: number): Promise<{ isDone: Promise<void> }> {
    this.#assertOpen()
    if (revision > this.#revision) throw new FutureRevisionError()
    if (revision <= this.#compacted) throw new CompactedRevisionError()
    await this.#commits.submit(freeing, () => writeMeta(this.#database, 'compacted', revision))
    this.#compacted = Math.max(this.#compacted, revision)
    const isDone = this.#upkeep.then(() => this.#scrub())
    this.#upkeep = isDone.catch((error: unknown) => {
      if (error instanceof StoreClosedError) return
      this.#deps.log.error('Compacted history not removed', { error: asError(error) })
    })
    return { isDone }
  }

  /** Resolves when all that was compacted is removed. */
  async compactionEnd(): Promise<void> {
    await this.#upkeep
  }

  /** Returns false if there is such a lease. */
  async grantLease(lease: bigint, ttlSeconds: number): Promise<boolean> {
    const isGranted = await this.transact({ bytes: 0 }, () => {
      if (this.leases.isStored(lease)) return false
      this.leases.insert(lease, ttlSeconds)
      return true
    })
    if (!isGranted) return false
    this.counts.leasesGranted += 1
    this.leases.start(lease, ttlSeconds)
    return true
  }

  /** Deletes the lease and its keys in one revision, and returns the revision after it. */
  async revokeLease(lease: bigint, { isExpiry = false } = {}): Promise<number> {
    const { isRevoked, revision } = await this.transact(
      { bytes: 0, isShrinking: true },
      (transaction) => {
        // It was kept alive meanwhile, or another request revoked it.
        if (isExpiry && !this.leases.isExpired(lease)) {
          return { isRevoked: false, revision: transaction.revision }
        }
        if (!this.leases.isStored(lease)) throw new NoLeaseError()
        for (const key of this.keysOf(lease, transaction)) {
          transaction.delete({ from: key, isOneKey: true })
        }
        this.leases.remove(lease)
        return { isRevoked: true, revision: transaction.revision }
      },
    )
    if (!isRevoked) return revision
    this.counts.leasesRevoked += 1
    if (isExpiry) this.counts.leasesExpired += 1
    this.leases.forget(lease)
    return revision
  }

  /** Returns the keys that the lease has now. */
  keysOf(lease: bigint, state?: Pick<EngineTransaction, 'head'>): Uint8Array[] {
    const head = (key: Uint8Array) => (state ? state.head(key) : this.log.head(key, this.#revision))
    return this.log.leasedKeys(lease).filter((key) => head(key)?.kv.lease === lease)
  }

  async setOutOfSpace(isOutOfSpace: boolean): Promise<void> {
    if (this.#isOutOfSpace === isOutOfSpace) return
    this.#isOutOfSpace = isOutOfSpace
    if (isOutOfSpace)
      this.#deps.log.error('Store is full', { advice: 'compact, defragment, disarm' })
    const value = isOutOfSpace ? 1 : 0
    await this.#commits.submit(freeing, () => writeMeta(this.#database, 'isOutOfSpace', value))
  }

  /** Makes a change durable that has no revision of its own, even if the store is full. It may throw before its first change. */
  async commit<T>(change: () => T): Promise<T> {
    this.#assertOpen()
    return await this.#commits.submit(freeing, change)
  }

  /** Returns the size of the file, and that of the part of it in use. */
  size(): { bytes: number; usedBytes: number } {
    this.#assertOpen()
    const pageBytes = Number(pragma(this.#database, 'page_size'))
    const pages = Number(pragma(this.#database, 'page_count'))
    const free = Number(pragma(this.#database, 'freelist_count'))
    return { bytes: pages * pageBytes, usedBytes: (pages - free) * pageBytes }
  }

  /** Gives the space of deleted rows back to the disk, in short steps, so that other calls get through in between. */
  async defragment(): Promise<void> {
    this.#assertOpen()
    const database = this.#database
    const commit = (step: () => void): Promise<void> => this.commit(step)
    const { clock } = this.#deps
    const work = this.#upkeep.then(() => giveBackPages({ database, clock, commit }))
    this.#upkeep = work.catch(() => {})
    await work
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.leases[Symbol.dispose]()
    this.#commits.close()
    await this.#upkeep
    this.#meter[Symbol.dispose]()
    closeStoreFile(this.#database, this.#deps.log)
  }

  #onCommitted({ events, revision }: Transaction<EngineEvent>): void {
    this.#revision = revision
    const deletes = events.filter(({ type }) => type === 'delete').length
    this.counts.deletes += deletes
    this.counts.puts += events.length - deletes
    if (events.length > 0) this.#watchers.publish(events, revision)
  }

  /** Undoes the changes of one request if it fails, and leaves those of the others in its group. */
  #undone<T>(group: Transaction<EngineEvent>, run: () => T): T {
    const { revision, events } = group
    const before = events.length
    this.#database.exec('SAVEPOINT request')
    try {
      const result = run()
      this.#database.exec('RELEASE request')
      return result
    } catch (error) {
      // SQLite rolls the whole group back by itself after some faults (disk full, I/O error).
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK TO request; RELEASE request')
      group.revision = revision
      events.length = before
      throw error
    }
  }

  #timed<T>(commit: () => T): T {
    const fromMs = this.#deps.clock.monotonicMs()
    const result = commit()
    this.onCommitTimed?.(this.#deps.clock.monotonicMs() - fromMs)
    return result
  }

  /** Works in slices, each in its own transaction, so that writes get through in between. */
  async #scrub(): Promise<void> {
    let scrubbed = readMeta(this.#database, 'scrubbed')
    while (scrubbed < this.#compacted) {
      this.#assertOpen()
      const after = scrubbed
      const to = this.log.sliceEnd(after, scrubRows, this.#compacted)
      await this.#commits.submit(freeing, () => {
        this.log.scrub(after, to)
        writeMeta(this.#database, 'scrubbed', to)
      })
      scrubbed = to
      await nextTurn()
    }
  }

  #onLeaseExpired(lease: bigint): void {
    this.revokeLease(lease, { isExpiry: true }).catch((error: unknown) => {
      if (error instanceof StoreClosedError || error instanceof NoLeaseError) return
      const text = String(lease)
      this.#deps.log.error('Lease not removed, trying again', {
        lease: text,
        error: asError(error),
      })
    })
  }

  #idOf(name: 'clusterId' | 'memberId'): bigint {
    const known = readMeta(this.#database, name)
    if (known !== 0) return BigInt(known)
    const id = 1 + Math.floor(this.#deps.random.next() * idMax)
    writeMeta(this.#database, name, id)
    return BigInt(id)
  }

  /** Names damaged rows in the log: how many there are, and the first. Reads the whole file. */
  reportDamaged(): void {
    const [first, ...others] = damagedRows(this.#database)
    if (first === undefined) return
    this.#onDamaged(first)
    if (others.length > 0)
      this.#deps.log.error('More stored values are damaged', { count: others.length })
  }

  #onDamaged(position: unknown): void {
    const advice = 'restore a backup, and check the disk'
    this.#deps.log.error('Stored value is damaged', { position: Number(position), advice })
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StoreClosedError()
  }
}

function ignored(): void {}

/** Operations that shrink the store, or preserve its content, continue while the disk is full. */
const freeing = Object.freeze({ bytes: 0, mayUseReserve: true })
