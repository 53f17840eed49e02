import type { Clock, Timer } from '@skerry/base'
import { readMeta, writeMeta } from './file-schema.ts'
import type { StoreLimits } from './limits-table.ts'
import type { RecentWrites } from './recent-writes.ts'
import { inTransaction, type Database } from './sqlite-database.ts'
import type { LogRow, SqliteLog } from './sqlite-log.ts'

export interface HeldWritesDeps {
  database: Database
  log: SqliteLog
  recent: RecentWrites
  clock: Clock
  limits: StoreLimits
  /** Called when held writes must become durable. */
  onDue: () => void
}

/**
 * Keeps a transaction of SQLite open across groups of relaxed writes, and commits it with the next durable one, so that
 * a calm store syncs seldom and writes each page once. Rows of it are in `recent` before anybody hears of them.
 * Synchronous. Anything that needs the store without an open transaction calls `commit` first.
 */
export class HeldWrites {
  readonly #deps: HeldWritesDeps
  readonly #rows: LogRow[] = []
  #bytes = 0
  #isOpen = false
  #timer: Timer | undefined
  /** No relaxed write gets a revision above this one, which is durable: a power cut may take them back. */
  #promised: number
  #strict = 0
  /** True if held rows are in the file of recent writes alone: the next start applies them. */
  #isBroken = false

  constructor(deps: HeldWritesDeps) {
    this.#deps = deps
    this.#promised = readMeta(deps.database, 'promised')
  }

  /** True if a group of this size may be held, and gets revisions up to `revision`. */
  mayHold(revision: number, bytes: number): boolean {
    const { relaxedBytesMax } = this.#deps.limits
    return (
      this.#strict === 0 && revision <= this.#promised && this.#bytes + bytes <= relaxedBytesMax
    )
  }

  /** While the result is in use, every group is durable at once. */
  strictly(): Disposable {
    this.#strict += 1
    return { [Symbol.dispose]: () => void (this.#strict -= 1) }
  }

  /** Runs `work`, which adds its rows to `rows`; its writes are as safe as the page cache when this returns. */
  hold<T>(rows: readonly LogRow[], work: () => T): T {
    const { database, log, recent } = this.#deps
    this.#assertWhole()
    try {
      if (!this.#isOpen) {
        recent.begin(log.newestRow())
        database.exec('BEGIN IMMEDIATE')
        this.#isOpen = true
      }
      const result = work()
      recent.append(rows)
      for (const row of rows) this.#bytes += row.value.length
      this.#rows.push(...rows)
      this.#arm()
      return result
    } catch (error) {
      this.#goBack()
      throw error
    }
  }

  /** Runs `work`; it and all held writes are durable when this returns. If it throws, they stay held. */
  commit<T>(work: () => T, { revisionMax = 0 } = {}): T {
    const { database, recent } = this.#deps
    this.#assertWhole()
    const promised = this.#promiseFor(revisionMax)
    const all = (): T => {
      if (promised !== this.#promised) writeMeta(database, 'promised', promised)
      return work()
    }
    if (!this.#isOpen) {
      const result = inTransaction(database, all)
      this.#promised = promised
      return result
    }
    try {
      const result = all()
      database.exec('COMMIT')
      this.#isOpen = false
      this.#rows.length = 0
      this.#bytes = 0
      this.#promised = promised
      recent.clear()
      this.#timer?.[Symbol.dispose]()
      this.#timer = undefined
      return result
    } catch (error) {
      this.#goBack()
      throw error
    }
  }

  /** True if anything waits to become durable. */
  get isHolding(): boolean {
    return this.#isOpen
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#deps.recent[Symbol.dispose]()
  }

  /** Promises more revisions in a commit that happens anyway, if a relaxed write is what it is for. */
  #promiseFor(revisionMax: number): number {
    if (revisionMax <= this.#promised) return this.#promised
    return revisionMax + this.#deps.limits.relaxedRevisions
  }

  #arm(): void {
    if (this.#timer) return
    const { clock, limits, onDue } = this.#deps
    const onTimer = (): void => {
      this.#timer = undefined
      // A full disk may need further tries.
      this.#arm()
      onDue()
    }
    this.#timer = clock.setTimer(limits.relaxedDelayMs, onTimer, { isBackground: true })
  }

  #assertWhole(): void {
    if (!this.#isBroken) return
    throw new Error('Cannot write: recent writes could not be applied again; start again')
  }

  /** Undoes all since the last group that was held. SQLite may have rolled the whole transaction back by itself. */
  #goBack(): void {
    const { database, log } = this.#deps
    if (database.isTransaction) database.exec('ROLLBACK')
    this.#isOpen = false
    if (this.#rows.length === 0) return
    this.#isBroken = true
    database.exec('BEGIN IMMEDIATE')
    for (const row of this.#rows) log.append(row)
    this.#isOpen = true
    this.#isBroken = false
  }
}
