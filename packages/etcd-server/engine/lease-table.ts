import type { Clock, Random, Timer } from '@skerry/base'
import type { Database } from '@skerry/store'
import { etcdServerBounds } from '../limits-table.ts'
import { NoLeaseError } from './engine-errors.ts'
import { leaseText } from './engine-schema.ts'

type Statement = ReturnType<Database['prepare']>

interface Lease {
  readonly ttlSeconds: number
  /** Monotonic time, in milliseconds. */
  deadlineMs: number
  /** The time at which the removal of the expired lease was last asked for. */
  askedMs?: number
}

export interface LeaseTableDeps {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  /** Called when the time is over. It removes the lease, or is called again. */
  readonly onExpired: (lease: bigint) => void
}

const { retryMs, expiredAtOnceMax, pauseMs, leasesPerMs } = etcdServerBounds.leaseTable

/**
 * Keeps leases and their deadlines. A restart gives each lease its whole time again, as etcd does after an election:
 * while the server was away, nobody could keep one alive. A keepalive therefore writes nothing.
 */
export class LeaseTable implements Disposable {
  readonly #leases = new Map<bigint, Lease>()
  readonly #deps: LeaseTableDeps
  readonly #insert: Statement
  readonly #delete: Statement
  readonly #find: Statement
  #timer: Timer | undefined
  #timerMs = Infinity
  #isClosed = false

  constructor(deps: LeaseTableDeps) {
    this.#deps = deps
    const { database } = deps
    this.#insert = database.prepare('INSERT INTO lease VALUES (?, ?)')
    this.#delete = database.prepare('DELETE FROM lease WHERE lease = ?')
    this.#find = database.prepare('SELECT 1 FROM lease WHERE lease = ?')
    for (const { lease, ttl_seconds: ttl } of database.prepare('SELECT * FROM lease').all()) {
      this.#leases.set(BigInt(String(lease)), this.#fresh(Number(ttl)))
    }
    this.#arm()
  }

  get size(): number {
    return this.#leases.size
  }

  /** Returns all leases with the time that each was granted. */
  grants(): { id: bigint; ttlSeconds: number }[] {
    return [...this.#leases].map(([id, { ttlSeconds }]) => ({ id, ttlSeconds }))
  }

  /** Returns the leases by deadline, the first to expire first. */
  ids(): bigint[] {
    const byDeadline = [...this.#leases].toSorted(([, a], [, b]) => a.deadlineMs - b.deadlineMs)
    return byDeadline.map(([lease]) => lease)
  }

  freeId(): bigint {
    for (;;) {
      // Both halves have fewer bits than a random number has.
      const high = BigInt(Math.floor(this.#deps.random.next() * 2 ** 31))
      const low = BigInt(Math.floor(this.#deps.random.next() * 2 ** 32))
      const lease = (high << 32n) | low
      if (lease !== 0n && !this.#leases.has(lease)) return lease
    }
  }

  has(lease: bigint): boolean {
    return this.#leases.has(lease)
  }

  /** Reads the table itself, so that it sees what the transaction has done. */
  isStored(lease: bigint): boolean {
    return this.#find.get(leaseText(lease)) !== undefined
  }

  /** Call this inside a transaction, and `start` once that is durable. */
  insert(lease: bigint, ttlSeconds: number): void {
    this.#insert.run(leaseText(lease), ttlSeconds)
  }

  start(lease: bigint, ttlSeconds: number): void {
    const fresh = this.#fresh(ttlSeconds)
    this.#leases.set(lease, fresh)
    if (fresh.deadlineMs < this.#timerMs) this.#arm()
  }

  /** Call this inside a transaction, and `forget` once that is durable. */
  remove(lease: bigint): void {
    this.#delete.run(leaseText(lease))
  }

  forget(lease: bigint): void {
    this.#leases.delete(lease)
  }

  /** Restarts the time and returns it. Throws NoLeaseError for an unknown or expired lease. */
  renew(lease: bigint): number {
    const known = this.#leases.get(lease)
    if (known === undefined || this.isExpired(lease)) throw new NoLeaseError()
    known.deadlineMs = this.#fresh(known.ttlSeconds).deadlineMs
    return known.ttlSeconds
  }

  isExpired(lease: bigint): boolean {
    const known = this.#leases.get(lease)
    return known !== undefined && known.deadlineMs <= this.#deps.clock.monotonicMs()
  }

  /** Returns undefined for an unknown or expired lease. */
  time(lease: bigint): { ttlSeconds: number; remainingSeconds: number } | undefined {
    const known = this.#leases.get(lease)
    if (known === undefined || this.isExpired(lease)) return undefined
    const remainingMs = known.deadlineMs - this.#deps.clock.monotonicMs()
    return { ttlSeconds: known.ttlSeconds, remainingSeconds: Math.floor(remainingMs / 1_000) }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
  }

  #fresh(ttlSeconds: number): Lease {
    return { ttlSeconds, deadlineMs: this.#deps.clock.monotonicMs() + ttlSeconds * 1_000 }
  }

  /** Expired leases stay until their removal is durable; they must not make the timer busy. */
  #arm(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#timerMs = Infinity
    if (this.#isClosed) return
    const nowMs = this.#deps.clock.monotonicMs()
    for (const { deadlineMs, askedMs } of this.#leases.values()) {
      const againMs = askedMs === undefined ? nowMs + pauseMs : askedMs + retryMs
      this.#timerMs = Math.min(this.#timerMs, deadlineMs > nowMs ? deadlineMs : againMs)
    }
    if (this.#timerMs === Infinity) return
    // Each look goes over all leases; many of them end together.
    const waitMs = Math.max(this.#timerMs - nowMs, Math.floor(this.#leases.size / leasesPerMs))
    this.#timerMs = nowMs + waitMs
    this.#timer = this.#deps.clock.setTimer(waitMs, () => this.#onTimer(), { isBackground: true })
  }

  /** After a restart all leases of one time to live end together, and other writes must get through meanwhile. */
  #onTimer(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    let asked = 0
    for (const [id, lease] of this.#leases) {
      if (lease.deadlineMs > nowMs) continue
      if (lease.askedMs !== undefined && nowMs - lease.askedMs < retryMs) continue
      if (asked === expiredAtOnceMax) break
      asked += 1
      lease.askedMs = nowMs
      this.#deps.onExpired(id)
    }
    this.#arm()
  }
}
