import type { Clock } from '@skerry/base'
import type { Store } from '@skerry/store'

/** Kinds whose objects expire, in seconds after their last write; by storage key. */
const timeToLiveSeconds: Readonly<Record<string, number>> = Object.freeze({
  'core/events': 3600,
})

/**
 * Shares one lease among all writes within a short time, so that a storm of events costs one lease,
 * not one each.
 */
export class LeasePool {
  readonly #store: Store
  readonly #clock: Clock
  readonly #current = new Map<number, { leaseId: number; untilMs: number }>()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async leaseFor(storage: string): Promise<number | undefined> {
    const ttl = timeToLiveSeconds[storage]
    if (ttl === undefined) return undefined
    const now = this.#clock.monotonicMs()
    const known = this.#current.get(ttl)
    if (known && now < known.untilMs) return known.leaseId
    // A lease is shared for a twentieth of its lifetime, and for a minute at most.
    const sharedSeconds = Math.min(60, ttl / 20)
    const { leaseId } = await this.#store.grantLease(Math.ceil(ttl + sharedSeconds))
    this.#current.set(ttl, { leaseId, untilMs: now + sharedSeconds * 1000 })
    return leaseId
  }
}
