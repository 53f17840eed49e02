import type { Clock, Random, Timer } from '@skerry/base'
import { numberOf, type Database, type Statement } from './sqlite-database.ts'
import { LeaseNotFoundError } from './store-errors.ts'
import { storeBounds } from './limits-table.ts'

interface Lease {
  readonly ttlMs: number
  /** Monotonic time. */
  deadlineMs: number
  /** The remaining time that a restart would resume with. */
  savedRemainingMs: number
}

export interface LeaseBookDeps {
  database: Database
  clock: Clock
  random: Random
  /** Called when the time is over. It must call `remove`, inside a transaction. */
  onExpired: (leaseId: number) => void
}

/**
 * Keeps leases and their deadlines. It saves the remaining time instead of a date: a machine whose
 * clock is wrong at boot must not drop every lease. Between two checkpoints a crash can only
 * lengthen a lease.
 */
export class LeaseBook implements Disposable {
  readonly #leases = new Map<number, Lease>()
  readonly #deps: LeaseBookDeps
  readonly #insert: Statement
  readonly #save: Statement
  readonly #delete: Statement
  #timer: Timer | undefined
  #timerDeadlineMs = Infinity

  constructor(deps: LeaseBookDeps) {
    this.#deps = deps
    const { database, clock } = deps
    this.#insert = database.prepare('INSERT INTO lease VALUES (?, ?, ?)')
    this.#save = database.prepare('UPDATE lease SET remaining_ms = ? WHERE lease_id = ?')
    this.#delete = database.prepare('DELETE FROM lease WHERE lease_id = ?')
    for (const row of database.prepare('SELECT * FROM lease').all()) {
      const remainingMs = numberOf(row, 'remaining_ms')
      this.#leases.set(numberOf(row, 'lease_id'), {
        ttlMs: numberOf(row, 'ttl_ms'),
        deadlineMs: clock.monotonicMs() + remainingMs,
        savedRemainingMs: remainingMs,
      })
    }
    this.#arm()
  }

  get size(): number {
    return this.#leases.size
  }

  freeId(): number {
    for (;;) {
      const leaseId = 1 + Math.floor(this.#deps.random.next() * leaseIdMax)
      if (!this.#leases.has(leaseId)) return leaseId
    }
  }

  /** Call this inside a transaction, and `start` once that is durable. */
  insert(leaseId: number, ttlMs: number): void {
    this.#insert.run(leaseId, ttlMs, ttlMs)
  }

  start(leaseId: number, ttlMs: number): void {
    const deadlineMs = this.#deps.clock.monotonicMs() + ttlMs
    this.#leases.set(leaseId, { ttlMs, deadlineMs, savedRemainingMs: ttlMs })
    if (deadlineMs < this.#timerDeadlineMs) this.#arm()
  }

  /** Throws LeaseNotFoundError for an unknown or expired lease. */
  require(leaseId: number): { ttlMs: number } {
    return this.#alive(leaseId)
  }

  isExpired(leaseId: number): boolean {
    const lease = this.#leases.get(leaseId)
    return lease !== undefined && lease.deadlineMs <= this.#deps.clock.monotonicMs()
  }

  /** Restarts the time. Returns true if that must be saved, too. */
  renew(leaseId: number): boolean {
    const lease = this.#alive(leaseId)
    lease.deadlineMs = this.#deps.clock.monotonicMs() + lease.ttlMs
    return lease.savedRemainingMs < lease.ttlMs
  }

  /** Call this inside a transaction. */
  save(leaseId: number): void {
    const lease = this.#leases.get(leaseId)
    if (lease === undefined) return
    const remainingMs = Math.max(0, Math.round(lease.deadlineMs - this.#deps.clock.monotonicMs()))
    this.#save.run(remainingMs, leaseId)
    lease.savedRemainingMs = remainingMs
  }

  /** Call this inside a transaction. */
  saveAll(): void {
    for (const leaseId of this.#leases.keys()) this.save(leaseId)
  }

  /** Call this inside a transaction, and `forget` once that is durable. */
  remove(leaseId: number): void {
    this.#delete.run(leaseId)
  }

  forget(leaseId: number): void {
    this.#leases.delete(leaseId)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    // A lease whose commit ends as the store closes must not arm the timer again.
    this.#timerDeadlineMs = -Infinity
  }

  #alive(leaseId: number): Lease {
    const lease = this.#leases.get(leaseId)
    if (lease === undefined || this.isExpired(leaseId)) throw new LeaseNotFoundError(leaseId)
    return lease
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#timerDeadlineMs = Infinity
    for (const { deadlineMs } of this.#leases.values()) {
      this.#timerDeadlineMs = Math.min(this.#timerDeadlineMs, deadlineMs)
    }
    if (this.#timerDeadlineMs === Infinity) return
    const waitMs = Math.max(0, this.#timerDeadlineMs - this.#deps.clock.monotonicMs())
    this.#timer = this.#deps.clock.setTimer(waitMs, () => this.#onTimer())
  }

  #onTimer(): void {
    for (const leaseId of this.#leases.keys()) {
      if (this.isExpired(leaseId)) this.#deps.onExpired(leaseId)
    }
    this.#armLater()
  }

  /** Expired leases stay in the book until their removal is durable; they must not arm a busy timer. */
  #armLater(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    let nextMs = Infinity
    for (const { deadlineMs } of this.#leases.values()) {
      if (deadlineMs > nowMs) nextMs = Math.min(nextMs, deadlineMs)
      else nextMs = Math.min(nextMs, nowMs + retryMs)
    }
    this.#timerDeadlineMs = nextMs
    if (nextMs === Infinity) return
    this.#timer = this.#deps.clock.setTimer(nextMs - nowMs, () => this.#onTimer())
  }
}

const { retryMs, leaseIdMax } = storeBounds.leaseBook
