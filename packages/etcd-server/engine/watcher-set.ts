import { isInRange, prefixOf, textOfKey, type KeyRange } from './key-range.ts'
import type { EngineEvent } from './key-value.ts'

export interface Watcher {
  readonly range: KeyRange
  /** `events` are those of the range, of whole revisions in order; nothing else happened in it up to `revision`. */
  readonly onEvents: (events: readonly EngineEvent[], revision: number) => void
}

/**
 * Distributes events. Watchers of one key and of one prefix are found by it, so the cost depends on the matching
 * watchers; other ranges are asked one by one.
 */
export class WatcherSet {
  readonly #byKey = new Map<string, Set<Watcher>>()
  readonly #byPrefix = new Map<string, Set<Watcher>>()
  /** The number of prefixes by their length and their last character, which tells most of them from a key. */
  readonly #endings = new Map<number, Map<number, number>>()
  readonly #others = new Set<Watcher>()

  get size(): number {
    const found = [...this.#byKey.values(), ...this.#byPrefix.values()]
    return found.reduce((sum, { size }) => sum + size, this.#others.size)
  }

  add(watcher: Watcher): void {
    const { map, text } = this.#placeOf(watcher)
    if (map === undefined) return void this.#others.add(watcher)
    const known = map.get(text)
    if (known) return void known.add(watcher)
    map.set(text, new Set([watcher]))
    if (map === this.#byPrefix) this.#count(text, 1)
  }

  delete(watcher: Watcher): void {
    const { map, text } = this.#placeOf(watcher)
    if (map === undefined) return void this.#others.delete(watcher)
    const known = map.get(text)
    if (!known?.delete(watcher) || known.size > 0) return
    map.delete(text)
    if (map === this.#byPrefix) this.#count(text, -1)
  }

  publish(events: readonly EngineEvent[], revision: number): void {
    const matched = new Map<Watcher, EngineEvent[]>()
    const add = (watchers: Iterable<Watcher> | undefined, event: EngineEvent): void => {
      for (const watcher of watchers ?? []) {
        const list = matched.get(watcher)
        if (list) list.push(event)
        else matched.set(watcher, [event])
      }
    }
    for (const event of events) {
      const text = textOfKey(event.kv.key)
      add(this.#byKey.get(text), event)
      for (const [length, last] of this.#endings) {
        // Past its end a text has no character.
        if (!last.has(text.charCodeAt(length - 1))) continue
        add(this.#byPrefix.get(text.slice(0, length)), event)
      }
      for (const watcher of this.#others) {
        if (isInRange(event.kv.key, watcher.range)) add([watcher], event)
      }
    }
    for (const [watcher, list] of matched) watcher.onEvents(list, revision)
  }

  #placeOf({ range }: Watcher): { map?: Map<string, Set<Watcher>>; text: string } {
    if (range.isOneKey) return { map: this.#byKey, text: textOfKey(range.from) }
    const prefix = prefixOf(range)
    return prefix === undefined ? { text: '' } : { map: this.#byPrefix, text: prefix }
  }

  #count(prefix: string, change: number): void {
    const last = prefix.charCodeAt(prefix.length - 1)
    const endings = this.#endings.get(prefix.length) ?? new Map<number, number>()
    const count = (endings.get(last) ?? 0) + change
    if (count === 0) endings.delete(last)
    else endings.set(last, count)
    if (endings.size === 0) this.#endings.delete(prefix.length)
    else this.#endings.set(prefix.length, endings)
  }
}
