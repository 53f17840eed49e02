import { discoveryOrder } from '@skerry/kinds'
import type { GroupResource, GroupVersionResource, Kind } from '@skerry/api'
import { createKindReader, type ConvertObjects, type KindReader } from './kind-reader.ts'

/**
 * Holds the kinds that are served now: the built-in ones permanently, those of CRDs as long as
 * their CRD exists.
 */
export class ServedKinds {
  /** Changes with every change of the set, for memoising discovery and OpenAPI. */
  version = 0
  readonly #byResource = new Map<string, KindReader>()
  /** The reader that the server itself uses for a group and resource: the stored version's. */
  readonly #byGroupResource = new Map<string, KindReader>()

  #ordered: { version: number; kinds: readonly Kind[] } | undefined

  constructor(kinds: readonly Kind[]) {
    for (const kind of kinds) this.add(kind)
  }

  /** Adds a kind. `convertObjects` is for custom kinds whose versions a webhook converts. */
  add(kind: Kind, convertObjects?: ConvertObjects): void {
    const reader = createKindReader(kind, convertObjects)
    this.#byResource.set(keyOf(kind.group, kind.version, kind.resource), reader)
    const key = `${kind.group}/${kind.resource}`
    const isStored = kind.version === kind.storageVersion && kind.storageGroup === undefined
    if (isStored || !this.#byGroupResource.has(key)) this.#byGroupResource.set(key, reader)
    this.version += 1
  }

  remove(kind: Kind): void {
    this.#byResource.delete(keyOf(kind.group, kind.version, kind.resource))
    const key = `${kind.group}/${kind.resource}`
    this.#byGroupResource.delete(key)
    for (const reader of this.#byResource.values()) {
      const other = reader.kind
      if (other.group === kind.group && other.resource === kind.resource) {
        this.#byGroupResource.set(key, reader)
      }
    }
    this.version += 1
  }

  find({ group, version, resource }: GroupVersionResource): KindReader | undefined {
    return this.#byResource.get(keyOf(group, version, resource))
  }

  /** Returns the reader of the version that the server stores. */
  findStored({ group, resource }: GroupResource): KindReader | undefined {
    return this.#byGroupResource.get(`${group}/${resource}`)
  }

  /** Returns all versions and groups that serve the objects stored there. */
  sharing(storage: string): KindReader[] {
    return [...this.#byResource.values()].filter((reader) => reader.storage === storage)
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.all().some((kind) => kind.group === group && kind.version === version)
  }

  /** Returns the kinds in the order of discovery and OpenAPI. */
  inOrder(): readonly Kind[] {
    if (this.#ordered?.version !== this.version) {
      const all = this.all()
      const builtin = all.filter(({ isCustom }) => !isCustom)
      const custom = all.filter(({ isCustom }) => isCustom)
      this.#ordered = { version: this.version, kinds: discoveryOrder(builtin, custom) }
    }
    return this.#ordered.kinds
  }

  all(): Kind[] {
    return [...this.#byResource.values()].map(({ kind }) => kind)
  }
}

function keyOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`
}
