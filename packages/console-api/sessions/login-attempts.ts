import { StatusError } from '@skerry/api'
import { RecentMap, type Clock } from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'

interface Failures {
  readonly count: number
  readonly atMs: number
}

const bounds = consoleBounds.loginAttempts

/** Bounds failed logins, of each address and of all together. Good ones are not counted. */
export class LoginAttempts {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #byAddress = new RecentMap<string, Failures>(bounds.addressesMax)
  #all: Failures = { count: 0, atMs: 0 }

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Throws TooManyRequests while this address, or all together, have failed too often. */
  requireRoom(address: string): void {
    const own = this.#ofAddress(address).count > bounds.perAddressMax - 1
    if (!own && this.#ofAll().count <= bounds.inAllMax - 1) return
    const text = 'Cannot log in: too many logins have failed, try again later'
    const retryAfterSeconds = Math.ceil((own ? bounds.perAddressMs : bounds.inAllMs) / 1_000)
    throw new StatusError('TooManyRequests', text, { details: { retryAfterSeconds } })
  }

  onFailed(address: string): void {
    const one = ({ count, atMs }: Failures): Failures => ({ count: count + 1, atMs })
    this.#byAddress.set(address, one(this.#ofAddress(address)))
    this.#all = one(this.#ofAll())
  }

  #ofAddress(address: string): Failures {
    return this.#now(this.#byAddress.get(address), bounds.perAddressMs)
  }

  #ofAll(): Failures {
    return this.#now(this.#all, bounds.inAllMs)
  }

  /** Forgets one failure each `everyMs`. */
  #now(known: Failures | undefined, everyMs: number): Failures {
    const atMs = this.#clock.monotonicMs()
    if (!known) return { count: 0, atMs }
    return { count: Math.max(0, known.count - (atMs - known.atMs) / everyMs), atMs }
  }
}
