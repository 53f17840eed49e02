import { inTransaction, sqliteFault, type Database } from './sqlite-database.ts'
import { StoreBusyError, StoreClosedError, StoreFullError } from './store-errors.ts'
import type { DiskReserve } from './disk-reserve.ts'
import type { StoreEvent } from './store.ts'
import type { StoreLimits } from './store-limits.ts'

/** What a group has done so far; thrown away when the group rolls back. */
export interface Transaction {
  revision: number
  readonly events: StoreEvent[]
}

/**
 * Decides and writes inside the group's transaction. It may throw to refuse, but only before its
 * first change to the database.
 */
export type Operation<T> = (transaction: Transaction) => T

interface Waiting {
  readonly bytes: number
  readonly mayUseReserve: boolean
  /** Runs inside the transaction; what it returns tells the caller, once the group is durable. */
  readonly run: (transaction: Transaction) => () => void
  readonly refuse: (error: unknown) => void
}

export interface GroupSize {
  /** The bytes that the operation adds to the group. */
  readonly bytes: number
  /** Default false. */
  readonly mayUseReserve?: boolean
}

export interface GroupCommitDeps {
  database: Database
  limits: StoreLimits
  /** Absent: a full disk refuses all that it has no room for. */
  reserve?: DiskReserve
  /** The newest durable revision. */
  revision: () => number
  /** The group is durable; runs before its callers are told. */
  onCommitted: (transaction: Transaction) => void
}

/**
 * Operations that meet in one turn of the event loop share one transaction and one fsync. Each is
 * applied in the order it came, and its promise settles only after COMMIT.
 */
export class GroupCommit {
  #waiting: Waiting[] = []
  #isScheduled = false
  #isClosed = false
  #isReserveUsed = false
  readonly #deps: GroupCommitDeps

  constructor(deps: GroupCommitDeps) {
    this.#deps = deps
  }

  /** Operations that take from the store need the reserve of a full disk; others are refused while it is in use. */
  submit<T>(size: GroupSize, operation: Operation<T>): Promise<T> {
    const { bytes, mayUseReserve = false } = size
    if (this.#isClosed) return Promise.reject(new StoreClosedError())
    const { writesWaitingMax } = this.#deps.limits
    if (this.#waiting.length >= writesWaitingMax) {
      const text = `Cannot write: ${writesWaitingMax} writes are waiting`
      return Promise.reject(new StoreBusyError(text))
    }
    if (!mayUseReserve && !this.#hasReserve()) return Promise.reject(fullError())
    return new Promise<T>((resolve, reject) => {
      const run = (transaction: Transaction): (() => void) => {
        const result = operation(transaction)
        return () => resolve(result)
      }
      this.#waiting.push({ bytes, mayUseReserve, run, refuse: reject })
      this.#schedule()
    })
  }

  /** Commits what waits and refuses what comes later. */
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

  #takeGroup(): Waiting[] {
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

  #commit(group: readonly Waiting[]): void {
    try {
      const { transaction, tell } = this.#apply(group)
      this.#deps.onCommitted(transaction)
      for (const settle of tell) settle()
    } catch (error) {
      const isFull = sqliteFault(error) === 'full'
      // A full disk refuses only what does not fit: small writes and deletes may still pass.
      if (isFull && group.length > 1) for (const one of group) this.#commit([one])
      else if (isFull && group[0]?.mayUseReserve && this.#release()) this.#commit(group)
      else for (const one of group) one.refuse(isFull ? fullError(error) : error)
    }
  }

  /** True while no full disk has taken it, or if it could be taken back now. */
  #hasReserve(): boolean {
    if (this.#isReserveUsed && this.#deps.reserve?.take()) this.#isReserveUsed = false
    return !this.#isReserveUsed
  }

  #release(): boolean {
    const isReleased = this.#deps.reserve?.release() ?? false
    if (isReleased) this.#isReserveUsed = true
    return isReleased
  }

  #apply(group: readonly Waiting[]): { transaction: Transaction; tell: (() => void)[] } {
    const transaction: Transaction = { revision: this.#deps.revision(), events: [] }
    const tell = inTransaction(this.#deps.database, () =>
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

/** Faults of the database spoil the whole transaction; refusals concern one operation. */
function isDatabaseError(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error
}

function fullError(cause?: unknown): StoreFullError {
  const text = 'Cannot write: no space is left for the store; free disk space or compact'
  return new StoreFullError(text, { cause })
}
