import { StatusError, type AnyObject, type GroupResource } from '@skerry/api'
import type { Objects } from '../contract/objects.ts'

/**
 * Holds objects in memory, without schema, defaults or admission, for table tests of decisions that
 * read objects. Tests of the real registry use the API server in-process.
 */
export class ObjectTable implements Objects {
  #resources = new Map<string, { version: number; objects: Map<string, AnyObject> }>()
  #revision = 1

  /** Adds or replaces an object, to set up a test. */
  put(resource: GroupResource, object: object): this {
    // Tests write whole objects; the code under test does not read what they leave out.
    const copy = structuredClone(object) as AnyObject
    copy.metadata.resourceVersion = String(++this.#revision)
    copy.metadata.uid ??= `uid-${copy.metadata.name}`
    const table = this.#table(resource)
    table.version++
    table.objects.set(keyOf(copy.metadata.namespace ?? '', copy.metadata.name ?? ''), copy)
    return this
  }

  unreadable(): undefined {
    return undefined
  }

  get(resource: GroupResource, namespace: string, name: string): AnyObject | undefined {
    return this.#table(resource).objects.get(keyOf(namespace, name))
  }

  list(resource: GroupResource, namespace?: string): readonly AnyObject[] {
    const all = [...this.#table(resource).objects.values()]
    return namespace === undefined ? all : all.filter((o) => o.metadata.namespace === namespace)
  }

  version(resource: GroupResource): number {
    return this.#table(resource).version
  }

  async create(resource: GroupResource, object: AnyObject): Promise<AnyObject> {
    const { namespace = '', name = '' } = object.metadata
    if (this.get(resource, namespace, name)) {
      throw new StatusError('AlreadyExists', `${resource.resource} "${name}" already exists`)
    }
    this.put(resource, object)
    return this.#existing(resource, namespace, name)
  }

  async update(
    resource: GroupResource,
    key: { namespace: string; name: string; subresource?: string },
    change: (object: AnyObject) => boolean | void,
  ): Promise<AnyObject> {
    const copy = structuredClone(this.#existing(resource, key.namespace, key.name))
    if (change(copy) !== false) this.put(resource, copy)
    return this.#existing(resource, key.namespace, key.name)
  }

  /** Fields of the applied object replace those of the old one entirely. */
  async apply(
    resource: GroupResource,
    key: { namespace: string; name: string },
    { fields }: { fields: Readonly<Record<string, unknown>> },
  ): Promise<AnyObject> {
    return this.update(resource, key, (object) => void Object.assign(object, fields))
  }

  async delete(resource: GroupResource, namespace: string, name: string): Promise<void> {
    this.#existing(resource, namespace, name)
    this.#table(resource).version++
    this.#table(resource).objects.delete(keyOf(namespace, name))
  }

  #existing(resource: GroupResource, namespace: string, name: string): AnyObject {
    const object = this.get(resource, namespace, name)
    if (!object) throw new StatusError('NotFound', `${resource.resource} "${name}" not found`)
    return object
  }

  #table(resource: GroupResource): { version: number; objects: Map<string, AnyObject> } {
    const key = `${resource.group}/${resource.resource}`
    let table = this.#resources.get(key)
    if (!table) this.#resources.set(key, (table = { version: 1, objects: new Map() }))
    return table
  }
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
