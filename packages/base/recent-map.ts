/**
 * A map with a bound. If it is full, the entry that was set or used longest ago is dropped. Iterates in
 * that order.
 */
export class RecentMap<Key, Value> implements Iterable<[Key, Value]> {
  readonly #entries = new Map<Key, Value>()
  readonly #entriesMax: number
  readonly #onDropped: ((value: Value) => void) | undefined

  /** `onDropped` is called with a value for which there was no room any more. */
  constructor(entriesMax: number, onDropped?: (value: Value) => void) {
    if (entriesMax < 1)
      throw new RangeError(`Cannot create map: entriesMax ${entriesMax} is below 1`)
    this.#entriesMax = entriesMax
    this.#onDropped = onDropped
  }

  get size(): number {
    return this.#entries.size
  }

  /** Looks only: the entry becomes no newer. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** Returns the value, and makes its entry the newest. */
  use(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.#renew(key, value)
    return value
  }

  /** Makes the entry the newest, and drops the oldest if there are too many. */
  set(key: Key, value: Value): void {
    this.#renew(key, value)
    if (this.#entries.size <= this.#entriesMax) return
    for (const [oldestKey, oldest] of this.#entries) {
      this.#entries.delete(oldestKey)
      this.#onDropped?.(oldest)
      return
    }
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }

  values(): MapIterator<Value> {
    return this.#entries.values()
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]()
  }

  #renew(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
  }
}
