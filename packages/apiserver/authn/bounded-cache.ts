import type { Clock } from '@skerry/base'

export interface BoundedCacheOptions {
  readonly entriesMax: number
  readonly ttlMs: number
}

/** Caches values for a short time. If it is full, the oldest is dropped. */
export class BoundedCache<T> {
  readonly #options: BoundedCacheOptions
  readonly #clock: Clock
  readonly #entries = new Map<string, { value: T; expiresAtMs: number }>()

  constructor(options: BoundedCacheOptions, clock: Clock) {
    this.#options = options
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
    this.#entries.delete(key)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= this.#options.entriesMax && oldest !== undefined) {
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { value, expiresAtMs: this.#clock.monotonicMs() + this.#options.ttlMs })
  }
}
