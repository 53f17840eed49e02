import type { KubeObject } from '@skerry/api'
import {
  keyOfObject,
  type Change,
  type IndexFunction,
  type Informer,
  type ObjectKey,
} from '@skerry/client'

/** One index: values by object and objects by value. */
interface Index<T> {
  readonly of: IndexFunction<T>
  readonly valuesOf: Map<string, readonly string[]>
  readonly keysOf: Map<string, Set<string>>
}

/**
 * Shows the objects of one namespace from an informer that watches several. It follows that informer until it
 * is disposed.
 */
export class NamespaceInformer<T extends KubeObject> implements Informer<T>, Disposable {
  readonly resource: Informer<T>['resource']
  readonly #all: Informer<T>
  readonly #namespace: string
  readonly #indexes = new Map<string, Index<T>>()
  readonly #indexing: Disposable

  constructor(all: Informer<T>, namespace: string) {
    this.resource = all.resource
    this.#all = all
    this.#namespace = namespace
    this.#indexing = all.onChange((change) => {
      if (!this.#isMine(change.object)) return
      for (const index of this.#indexes.values()) place(index, change)
    })
  }

  get(key: ObjectKey): T | undefined {
    return key.namespace === this.#namespace ? this.#all.get(key) : undefined
  }

  list(namespace: string = this.#namespace): readonly T[] {
    return namespace === this.#namespace ? this.#all.list(namespace) : []
  }

  byIndex(name: string, value: string): readonly T[] {
    const keys = this.#indexes.get(name)?.keysOf.get(value) ?? []
    const isNamed = new Set(keys)
    return isNamed.size === 0 ? [] : this.list().filter((each) => isNamed.has(keyOfObject(each)))
  }

  addIndex(name: string, of: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return
    const index: Index<T> = { of, valuesOf: new Map(), keysOf: new Map() }
    this.#indexes.set(name, index)
    for (const object of this.list()) place(index, { type: 'added', object })
  }

  hasSynced(): boolean {
    return this.#all.hasSynced()
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return this.#all.whenSynced(signal)
  }

  lastContactMs(): number | undefined {
    return this.#all.lastContactMs()
  }

  onChange(listener: (change: Change<T>) => void): Disposable {
    return this.#all.onChange((change) => {
      if (this.#isMine(change.object)) listener(change)
    })
  }

  recordWrite(object: T): void {
    this.#all.recordWrite(object)
  }

  recordDelete(object: KubeObject): void {
    this.#all.recordDelete(object)
  }

  retryNow(): void {
    this.#all.retryNow()
  }

  /** The owner of the informer of all namespaces runs it. */
  async run(): Promise<never> {
    throw new Error(`Cannot run the informer of namespace "${this.#namespace}" alone`)
  }

  [Symbol.dispose](): void {
    this.#indexing[Symbol.dispose]()
  }

  #isMine({ metadata }: T): boolean {
    return metadata.namespace === this.#namespace
  }
}

function place<T extends KubeObject>({ of, valuesOf, keysOf }: Index<T>, change: Change<T>): void {
  const key = keyOfObject(change.object)
  for (const value of valuesOf.get(key) ?? []) {
    const keys = keysOf.get(value)
    keys?.delete(key)
    if (keys?.size === 0) keysOf.delete(value)
  }
  valuesOf.delete(key)
  if (change.type === 'deleted') return
  const values = of(change.object)
  valuesOf.set(key, values)
  for (const value of values) {
    const keys = keysOf.get(value) ?? new Set()
    keysOf.set(value, keys.add(key))
  }
}
