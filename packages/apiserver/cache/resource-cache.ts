import type { CachedObject } from './cached-object.ts'

export interface CacheEvent {
  readonly type: 'put' | 'delete'
  readonly revision: number
  /** The object's state; for a delete, its last state at the revision of the delete. */
  readonly object: CachedObject
  readonly previous: CachedObject | undefined
}

const lastSeens = new WeakMap<CacheEvent, CachedObject>()

/**
 * Returns the object for watchers that no longer see it: its previous state at the revision of the
 * change.
 */
export function lastSeen(event: CacheEvent): CachedObject {
  const { previous, revision, object } = event
  if (!previous) return object
  const known = lastSeens.get(event)
  if (known) return known
  const made = previous.at(revision)
  lastSeens.set(event, made)
  return made
}

export interface CacheListener {
  onEvent(event: CacheEvent): void
  /** Called when everything up to `revision` has been delivered. */
  onBookmark(revision: number): void
  /** Called when the history that the listener follows is broken. It must list again. */
  onReset(): void
}

export interface HistoryLimits {
  readonly historyEventsMax: number
  /** Above this size the oldest events are dropped, except for the minimum number. */
  readonly historyBytesMax: number
  readonly historyEventsMin: number
}

/** Holds the current objects of one resource in key order, its recent history, and its listeners. */
export class ResourceCache {
  /** The revision of the last change of any object. */
  version: number
  readonly #objects = new Map<string, CachedObject>()
  #sortedKeys: string[] = []
  #history: CacheEvent[] = []
  /** Watches that start at this revision or later miss nothing. */
  #oldestRevision: number
  readonly #limits: HistoryLimits
  #historyBytes = 0
  readonly #listeners = new Set<CacheListener>()
  /** The listeners of everything, and those of one place: an event costs nothing for listeners of other places. */
  readonly #wide = new Set<CacheListener>()
  readonly #narrow = new Map<string, Set<CacheListener>>()
  /** The objects whose bytes cannot be decrypted, with the reason. Undefined if there are none. */
  #unreadable: Map<string, string> | undefined

  constructor(oldestRevision: number, limits: HistoryLimits) {
    this.version = oldestRevision
    this.#oldestRevision = oldestRevision
    this.#limits = limits
  }

  get size(): number {
    return this.#objects.size
  }

  get oldestRevision(): number {
    return this.#oldestRevision
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  get(key: string): CachedObject | undefined {
    return this.#objects.get(key)
  }

  /** Lists the objects in key order, optionally of one namespace only. */
  list(namespace = ''): CachedObject[] {
    const keys = this.#sortedKeys
    const prefix = namespace === '' ? '' : `${namespace}/`
    const out: CachedObject[] = []
    for (let at = firstAtOrAfter(keys, prefix); at < keys.length; at += 1) {
      const key = keys[at] ?? ''
      if (!key.startsWith(prefix)) break
      const object = this.#objects.get(key)
      if (object) out.push(object)
    }
    return out
  }

  /** Lists the objects of a place, as listen() takes it. */
  listAt(place: string): CachedObject[] {
    if (place === '' || place.endsWith('/')) return this.list(place.slice(0, -1))
    const object = this.#objects.get(place)
    return object ? [object] : []
  }

  /** Returns the events after `revision`, oldest first, or undefined if some of them are gone. */
  eventsAfter(revision: number): CacheEvent[] | undefined {
    if (revision < this.#oldestRevision) return undefined
    let from = this.#history.length
    while (from > 0 && (this.#history[from - 1]?.revision ?? 0) > revision) from -= 1
    return this.#history.slice(from)
  }

  /**
   * Delivers events of all objects, or of one place only: of the object with this key, or of a namespace, as
   * `namespace/`. If omitted, or empty, of all.
   */
  listen(listener: CacheListener, place = ''): Disposable {
    this.#listeners.add(listener)
    const among = place === '' ? this.#wide : (this.#narrow.get(place) ?? new Set())
    among.add(listener)
    if (place !== '') this.#narrow.set(place, among)
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener)
        among.delete(listener)
        if (among.size === 0 && this.#narrow.get(place) === among) this.#narrow.delete(place)
      },
    }
  }

  /** Returns why the object at that key cannot be read. */
  unreadable(key: string): string | undefined {
    return this.#unreadable?.get(key)
  }

  /** Returns the first unreadable object of this namespace; an empty namespace means all. */
  firstUnreadable(namespace = ''): { key: string; reason: string } | undefined {
    for (const [key, reason] of this.#unreadable ?? []) {
      if (namespace === '' || key.startsWith(`${namespace}/`)) return { key, reason }
    }
    return undefined
  }

  unreadableKeys(): readonly string[] {
    return [...(this.#unreadable?.keys() ?? [])]
  }

  /** Only the watch cache calls the following methods. */
  load(object: CachedObject): void {
    this.#unreadable?.delete(object.key)
    this.#place(object)
  }

  markUnreadable(key: string, reason: string): void {
    this.#unreadable ??= new Map()
    this.#unreadable.set(key, reason)
  }

  forgetUnreadable(key: string): void {
    this.#unreadable?.delete(key)
  }

  apply(event: CacheEvent): void {
    this.#unreadable?.delete(event.object.key)
    if (event.type === 'put') this.#place(event.object)
    else this.#remove(event.object.key)
    this.version = event.revision
    this.#remember(event)
    for (const listeners of this.#listenersAt(event.object)) {
      for (const listener of listeners) listener.onEvent(event)
    }
    event.previous?.forgetObject()
  }

  #listenersAt({ key, namespace }: CachedObject): readonly Set<CacheListener>[] {
    const inNamespace = namespace === '' ? undefined : this.#narrow.get(`${namespace}/`)
    return [this.#wide, inNamespace, this.#narrow.get(key)].filter((each) => each !== undefined)
  }

  bookmark(revision: number): void {
    for (const listener of this.#listeners) listener.onBookmark(revision)
  }

  /**
   * Call this after objects have appeared without events. Listeners read again, and no watch
   * resumes from before `revision`.
   */
  breakHistory(revision: number): void {
    this.#history = []
    this.#historyBytes = 0
    this.#oldestRevision = revision
    this.reset()
  }

  reset(): void {
    for (const listener of this.#listeners) listener.onReset()
    this.#listeners.clear()
    this.#wide.clear()
    this.#narrow.clear()
  }

  #place(object: CachedObject): void {
    if (!this.#objects.has(object.key)) this.#insertKey(object.key)
    this.#objects.set(object.key, object)
  }

  #insertKey(key: string): void {
    const keys = this.#sortedKeys
    const last = keys.at(-1)
    if (last === undefined || last < key) keys.push(key)
    else keys.splice(firstAtOrAfter(keys, key), 0, key)
  }

  #remove(key: string): void {
    if (!this.#objects.delete(key)) return
    const at = firstAtOrAfter(this.#sortedKeys, key)
    if (this.#sortedKeys[at] === key) this.#sortedKeys.splice(at, 1)
  }

  #remember(event: CacheEvent): void {
    const { historyEventsMax, historyBytesMax, historyEventsMin } = this.#limits
    this.#history.push(event)
    this.#historyBytes += event.object.bytes.length
    // The history is trimmed in steps, because removing one event per event would copy the window
    // each time.
    if (this.#history.length >= historyEventsMax * 1.25) this.#trim(historyEventsMax)
    if (this.#historyBytes <= historyBytesMax || this.#history.length < historyEventsMin * 1.25) {
      return
    }
    this.#trim(Math.max(historyEventsMin, Math.floor(this.#history.length * 0.8)))
  }

  #trim(eventsMax: number): void {
    const cut = this.#history.length - eventsMax
    this.#oldestRevision = this.#history[cut - 1]?.revision ?? this.#oldestRevision
    for (const { object } of this.#history.slice(0, cut)) this.#historyBytes -= object.bytes.length
    this.#history = this.#history.slice(cut)
  }
}

function firstAtOrAfter(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}
