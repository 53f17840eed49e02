import { RecentMap, type Clock } from '@skerry/base'

export interface BoundedCacheOptions {
  readonly entriesMax: number
  readonly ttlMs: number
}

/** Caches values for a short time. If it is full, the oldest is dropped. */
export class BoundedCache<T> {
  readonly #options: BoundedCacheOptions
  readonly #clock: Clock
  readonly #entries: RecentMap<string, { value: T; expiresAtMs: number }>

  constructor(options: BoundedCacheOptions, clock: Clock) {
    this.#options = options
    this.#entries = new RecentMap(options.entriesMax)
    this.#clock = clock
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry.expiresAtMs > this.#clock.monotonicMs()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: T): void {
    this.#entries.set(key, { value, expiresAtMs: this.#clock.monotonicMs() + this.#options.ttlMs })
  }
}
