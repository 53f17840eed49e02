import { inTransaction, sqliteFault, type Database } from './sqlite-database.ts'
import { StoreBusyError, StoreClosedError, StoreFullError } from './store-errors.ts'
import type { DiskReserve } from './disk-reserve.ts'
import type { HeldWrites } from './held-writes.ts'
import type { LogRow } from './sqlite-log.ts'
import type { StoreEvent } from './store.ts'
import { type StoreLimits } from './limits-table.ts'
import type { WriteMeter } from './write-meter.ts'

/** The changes of a group so far. They are discarded if the group rolls back. */
export interface Transaction<Event = StoreEvent> {
  revision: number
  readonly events: Event[]
  /** The rows of the group so far. An operation that may wait adds all of its own. */
  readonly rows: LogRow[]
}

/**
 * Decides and writes inside the group's transaction. It may throw to refuse, but only before its
 * first change to the database.
 */
export type Operation<T, Event = StoreEvent> = (transaction: Transaction<Event>) => T

interface Waiting<Event> {
  readonly bytes: number
  readonly mayUseReserve: boolean
  readonly mayWait: boolean
  /** Runs inside the transaction. The returned function notifies the caller once the group is durable. */
  readonly run: (transaction: Transaction<Event>) => () => void
  readonly refuse: (error: unknown) => void
}

export interface GroupSize {
  /** The number of bytes that the operation adds to the group. */
  readonly bytes: number
  /** Default: false. */
  readonly mayUseReserve?: boolean
  /**
   * True if a power cut may undo the operation, which changes at most one row, or nothing that its caller needs again.
   * Default: false.
   */
  readonly mayWait?: boolean
}

export type GroupLimits = Pick<StoreLimits, 'writesWaitingMax' | 'groupWritesMax' | 'groupBytesMax'>

export interface GroupCommitDeps<Event = StoreEvent> {
  database: Database
  limits: GroupLimits
  /** If omitted, a full disk refuses everything that does not fit. */
  reserve?: DiskReserve
  /** If omitted, no group waits. */
  held?: HeldWrites
  meter: WriteMeter
  /** Returns the newest durable revision. */
  revision: () => number
  /** Called when the group is durable, before its callers are notified. */
  onCommitted: (transaction: Transaction<Event>) => void
  /** Runs a commit and may measure it. */
  timed?: <T>(commit: () => T) => T
}

/**
 * Commits operations of one turn of the event loop in one transaction with one fsync. They are
 * applied in order, and their promises settle only after COMMIT.
 */
export class GroupCommit<Event = StoreEvent> {
  #waiting: Waiting<Event>[] = []
  #isScheduled = false
  #isClosed = false
  #isReserveUsed = false
  readonly #deps: GroupCommitDeps<Event>

  constructor(deps: GroupCommitDeps<Event>) {
    this.#deps = deps
  }

  /**
   * While the reserve of a full disk is in use, only operations that shrink the store are accepted,
   * because they need it.
   */
  submit<T>(size: GroupSize, operation: Operation<T, Event>): Promise<T> {
    const { bytes, mayUseReserve = false, mayWait = false } = size
    if (this.#isClosed) return Promise.reject(new StoreClosedError())
    const { writesWaitingMax } = this.#deps.limits
    if (this.#waiting.length >= writesWaitingMax) {
      const text = `Cannot write: ${writesWaitingMax} writes are waiting`
      return Promise.reject(new StoreBusyError(text))
    }
    if (!mayUseReserve && !this.#hasReserve()) return Promise.reject(fullError())
    return new Promise<T>((resolve, reject) => {
      const run = (transaction: Transaction<Event>): (() => void) => {
        const result = operation(transaction)
        return () => resolve(result)
      }
      this.#waiting.push({ bytes, mayUseReserve, mayWait, run, refuse: reject })
      this.#schedule()
    })
  }

  /** Resolves when all that was held is durable. */
  async flush(): Promise<void> {
    if (this.#deps.held?.isHolding) await this.submit({ bytes: 0, mayUseReserve: true }, () => {})
  }

  /** Commits waiting operations and refuses later ones. */
  close(): void {
    this.#isClosed = true
    while (this.#waiting.length > 0) this.#commit(this.#takeGroup())
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#waiting.length > 0) this.#commit(this.#takeGroup())
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  #takeGroup(): Waiting<Event>[] {
    const { groupWritesMax, groupBytesMax } = this.#deps.limits
    let bytes = 0
    let count = 0
    for (const { bytes: more } of this.#waiting) {
      bytes += more
      if (count > 0 && (count >= groupWritesMax || bytes > groupBytesMax)) break
      count += 1
    }
    if (count === this.#waiting.length) {
      const all = this.#waiting
      this.#waiting = []
      return all
    }
    return this.#waiting.splice(0, count)
  }

  #commit(group: readonly Waiting<Event>[]): void {
    try {
      const { transaction, tell } = this.#deps.meter.measure(() => this.#apply(group))
      this.#deps.meter.acknowledged(transaction.events.length)
      this.#deps.onCommitted(transaction)
      for (const settle of tell) settle()
    } catch (error) {
      const isFull = sqliteFault(error) === 'full'
      // A full disk refuses only what does not fit: small writes and deletes may still succeed.
      if (isFull && group.length > 1) for (const one of group) this.#commit([one])
      else if (isFull && group[0]?.mayUseReserve && this.#release()) this.#commit(group)
      else for (const one of group) one.refuse(isFull ? fullError(error) : error)
    }
  }

  /** Returns true if the reserve is unused, or could be taken back now. */
  #hasReserve(): boolean {
    if (this.#isReserveUsed && this.#deps.reserve?.take()) this.#isReserveUsed = false
    return !this.#isReserveUsed
  }

  #release(): boolean {
    const isReleased = this.#deps.reserve?.release() ?? false
    if (isReleased) this.#isReserveUsed = true
    return isReleased
  }

  #apply(group: readonly Waiting<Event>[]): Applied<Event> {
    const { held } = this.#deps
    const mayWait = held !== undefined && group.every((one) => one.mayWait)
    const revisionMax = this.#deps.revision() + group.length
    const bytes = group.reduce((sum, one) => sum + one.bytes, 0)
    if (mayWait && held.mayHold(revisionMax, bytes)) {
      try {
        return this.#run(group, (rows, work) => held.hold(rows, work))
      } catch (error) {
        if (isDatabaseError(error)) throw error
        // The file of recent writes took no more.
      }
    }
    const { timed = unmeasured } = this.#deps
    return this.#run(group, (_rows, work) =>
      timed(() =>
        held
          ? held.commit(work, { revisionMax: mayWait ? revisionMax : 0 })
          : inTransaction(this.#deps.database, work),
      ),
    )
  }

  #run(
    group: readonly Waiting<Event>[],
    runIn: <T>(rows: readonly LogRow[], work: () => T) => T,
  ): Applied<Event> {
    const transaction: Transaction<Event> = {
      revision: this.#deps.revision(),
      events: [],
      rows: [],
    }
    const tell = runIn(transaction.rows, () =>
      group.map((one) => {
        try {
          return one.run(transaction)
        } catch (error) {
          if (isDatabaseError(error)) throw error
          return () => one.refuse(error)
        }
      }),
    )
    return { transaction, tell }
  }
}

interface Applied<Event> {
  readonly transaction: Transaction<Event>
  readonly tell: (() => void)[]
}

function unmeasured<T>(commit: () => T): T {
  return commit()
}

/** A database fault spoils the whole transaction; a refusal concerns one operation. */
function isDatabaseError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error
}

function fullError(cause?: unknown): StoreFullError {
  const text = 'Cannot write: no space is left for the store; free disk space or compact'
  return new StoreFullError(text, { cause })
}
