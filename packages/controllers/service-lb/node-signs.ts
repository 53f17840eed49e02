import type { Lease } from '@skerry/api'
import { controllerBounds } from '../limits-table.ts'

const { holderMs, firstMs, candidateMs, startMs, lateMs } = controllerBounds.nodeSigns

interface Sign {
  readonly renewTime: string
  readonly seenMs: number
}

/**
 * Judges by the renewals of nodes' leases, seen with this process's monotonic clock, which nodes live. Holders of addresses
 * renew theirs several times a second.
 */
export class NodeSigns {
  readonly #signs = new Map<string, Sign>()
  /** When each node came to hold addresses. */
  readonly #heldSinceMs = new Map<string, number>()
  /** Nodes that missed their time as holders, until their next sign. */
  readonly #missed = new Set<string>()
  readonly #startedMs: number
  #nextLookMs = Infinity
  /** No node is missed before this time. */
  #patientUntilMs: number

  constructor(nowMs: number) {
    this.#startedMs = nowMs
    this.#patientUntilMs = nowMs + startMs
  }

  onLease({ metadata: { name = '' }, spec }: Lease, nowMs: number): void {
    const renewTime = spec?.renewTime ?? ''
    const known = this.#signs.get(name)
    if (known?.renewTime === renewTime) return
    // The first sign may be from long before.
    this.#signs.set(name, { renewTime, seenMs: known ? nowMs : this.#startedMs })
    this.#missed.delete(name)
  }

  /** Takes the nodes that hold addresses now. */
  setHolders(holders: ReadonlySet<string>, nowMs: number): void {
    for (const name of this.#heldSinceMs.keys()) {
      if (!holders.has(name)) this.#heldSinceMs.delete(name)
    }
    for (const name of holders) {
      if (!this.#heldSinceMs.has(name)) this.#heldSinceMs.set(name, nowMs)
    }
  }

  /** Call this before nodes are judged: if the look comes late, renewals may still wait to be read. */
  look(nowMs: number): void {
    if (nowMs > this.#nextLookMs + lateMs)
      this.#patientUntilMs = Math.max(this.#patientUntilMs, nowMs + holderMs)
    this.#nextLookMs = Infinity
  }

  isAlive(name: string, nowMs: number): boolean {
    if (this.#missed.has(name)) return false
    const isAlive = nowMs <= this.#deadlineMs(name)
    if (!isAlive && this.#heldSinceMs.has(name)) this.#missed.add(name)
    return isAlive
  }

  /** Returns the time until a holder may have missed its time, or undefined without holders that live. */
  untilNextMs(nowMs: number): number | undefined {
    const living = [...this.#heldSinceMs.keys()].filter((name) => !this.#missed.has(name))
    if (living.length === 0) return undefined
    const nextMs = Math.min(...living.map((name) => this.#deadlineMs(name)))
    const waitMs = Math.max(nextMs - nowMs + 1, 50)
    this.#nextLookMs = nowMs + waitMs
    return waitMs
  }

  #deadlineMs(name: string): number {
    const seenMs = this.#signs.get(name)?.seenMs ?? this.#startedMs
    const heldSinceMs = this.#heldSinceMs.get(name)
    const deadlineMs =
      heldSinceMs === undefined
        ? seenMs + candidateMs
        : Math.max(seenMs + holderMs, heldSinceMs + firstMs)
    return Math.max(deadlineMs, this.#patientUntilMs)
  }
}
