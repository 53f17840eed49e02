import type { KubeObject } from '@skerry/api'
import { checkListLength } from './read-object.ts'
import type { ObjectKey } from './request-path.ts'
import { compareResourceVersions } from './resource-version.ts'

/** Returns `namespace/name`, or the name alone for cluster-scoped objects: one text, for maps and queues. */
export function keyText(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name
}

export function keyOfObject(object: KubeObject): string {
  const { namespace, name = '' } = object.metadata
  return namespace ? `${namespace}/${name}` : name
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  if (slash === -1) return { name: text }
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** Returns the values under which an object is found; several or none. */
export type IndexFunction<T> = (object: T) => readonly string[]
export type IndexFunctions<T> = Readonly<Record<string, IndexFunction<T>>>

export type Change<T> =
  | { readonly type: 'added'; readonly object: T; readonly old?: undefined }
  | { readonly type: 'updated'; readonly object: T; readonly old: T }
  | { readonly type: 'deleted'; readonly object: T; readonly old?: undefined }

const byNamespace = 'namespace'

/**
 * Stores objects by key and by index. Holds no history, except deletes whose watch event is still
 * to come.
 */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly #functions = new Map<string, IndexFunction<T>>()
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>()
  /** Maps the uid to the resource version of a delete by this process. */
  readonly #deletes = new Map<string, string>()

  constructor(functions: IndexFunctions<T>) {
    this.addIndex(byNamespace, (object) => [object.metadata.namespace ?? ''])
    for (const [name, of] of Object.entries(functions)) this.addIndex(name, of)
  }

  /** Indexes existing objects, too. The same name must always mean the same function. */
  addIndex(name: string, of: IndexFunction<T>): void {
    if (this.#functions.has(name)) return
    this.#functions.set(name, of)
    const entries = new Map<string, Map<string, T>>()
    this.#indexes.set(name, entries)
    for (const [key, object] of this.#objects) addTo(entries, of(object), { key, object })
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys()
  }

  list(namespace?: string): T[] {
    return namespace === undefined
      ? [...this.#objects.values()]
      : this.byIndex(byNamespace, namespace)
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name)
    if (!index) throw new RangeError(`Cannot read index "${name}": it is not defined`)
    return [...(index.get(value)?.values() ?? [])]
  }

  /** Returns undefined if the cached object is as new, or if this process has deleted the object since. */
  put(object: T): Change<T> | undefined {
    const key = keyOfObject(object)
    const old = this.#objects.get(key)
    if (this.#isDeleted(object) || (old && !isNewer(object, old))) return undefined
    if (!old) checkListLength(this.#objects.size + 1)
    // All index values are computed before any change, because an index function may throw for a
    // malformed object.
    const values = [...this.#functions].map(([name, of]) => [name, of(object)] as const)
    if (old) this.#removeFromIndexes(key, old)
    this.#objects.set(key, object)
    for (const [name, found] of values) {
      const entries = this.#indexes.get(name)
      if (entries) addTo(entries, found, { key, object })
    }
    return old ? { type: 'updated', object, old } : { type: 'added', object }
  }

  remove(key: string): Change<T> | undefined {
    const old = this.#objects.get(key)
    if (!old) return undefined
    this.#objects.delete(key)
    this.#removeFromIndexes(key, old)
    return { type: 'deleted', object: old }
  }

  /** Late events about this object, up to its deletion, have no effect from now on. */
  expectDelete(object: KubeObject): void {
    const { uid, resourceVersion } = object.metadata
    if (uid && resourceVersion) this.#deletes.set(uid, resourceVersion)
  }

  /** Forgets deletes up to this version, because their events have been seen. */
  forgetDeletes(seenVersion: string): void {
    for (const [uid, version] of this.#deletes) {
      if ((compareResourceVersions(version, seenVersion) ?? 0) <= 0) this.#deletes.delete(uid)
    }
  }

  #isDeleted(object: T): boolean {
    return this.#deletes.size > 0 && this.#deletes.has(object.metadata.uid ?? '')
  }

  #removeFromIndexes(key: string, object: T): void {
    for (const [name, of] of this.#functions) {
      const entries = this.#indexes.get(name)
      for (const value of of(object)) {
        const bucket = entries?.get(value)
        bucket?.delete(key)
        if (bucket?.size === 0) entries?.delete(value)
      }
    }
  }
}

function addTo<T>(
  entries: Map<string, Map<string, T>>,
  values: readonly string[],
  entry: { key: string; object: T },
): void {
  for (const value of values) {
    const bucket = entries.get(value)
    if (bucket) bucket.set(entry.key, entry.object)
    else entries.set(value, new Map([[entry.key, entry.object]]))
  }
}

/** Versions that cannot be compared count as newer if they differ: the server's last message wins. */
function isNewer(object: KubeObject, old: KubeObject): boolean {
  const { resourceVersion = '' } = object.metadata
  const known = old.metadata.resourceVersion ?? ''
  return resourceVersion !== known && (compareResourceVersions(resourceVersion, known) ?? 1) > 0
}
