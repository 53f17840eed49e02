import { isStatusError, type AnyObject, type GroupResource, StatusError } from '@skerry/api'
import type { UserInfo } from '../access.ts'
import type { Objects } from '../objects.ts'
import { createObject } from './create.ts'
import { typedObject } from './decode.ts'
import { deleteOptionsOf } from './delete-options.ts'
import { deleteObject } from './delete.ts'
import { trackChange } from './managed-fields.ts'
import type { KindReader } from './kind-reader.ts'
import type { RegistryDeps, RequestScope } from './request-scope.ts'
import { changeObject } from './update.ts'

const serverUser: UserInfo = Object.freeze({
  name: 'system:apiserver',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})

const noDeleteOptions = Object.freeze({
  isDryRun: false,
  object: { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', metadata: {} },
})

/** The server's own reads (from the cache) and writes (through the registry, with admission). */
export function createServerObjects(deps: RegistryDeps, signal: AbortSignal): Objects {
  const readerOf = (resource: GroupResource): KindReader => {
    const reader = deps.kinds.findStored(resource)
    if (reader) return reader
    const name = `${resource.resource}.${resource.group}`
    throw new StatusError('NotFound', `Cannot use ${name}: it is not served`)
  }
  const cacheOf = (reader: KindReader) => deps.cache.resource(reader.storage)
  const scope = (reader: KindReader, key: { namespace: string; name: string }): RequestScope => ({
    ...serverScope(reader, signal),
    namespace: reader.kind.isNamespaced ? key.namespace : '',
    name: key.name,
  })
  return {
    get(resource, namespace, name) {
      const reader = readerOf(resource)
      const key = reader.kind.isNamespaced ? `${namespace}/${name}` : name
      const cached = cacheOf(reader).get(key)
      return cached && reader.frozen(cached)
    },
    list(resource, namespace) {
      const reader = readerOf(resource)
      return cacheOf(reader)
        .list(namespace)
        .map((cached) => reader.frozen(cached))
    },
    version: (resource) => cacheOf(readerOf(resource)).version,
    async create(resource, object) {
      const reader = readerOf(resource)
      const { namespace = '', name = '' } = object.metadata
      const asked = scope(reader, { namespace, name })
      const next = typedObject(structuredClone(object), [], { ...asked, kind: reader.kind })
      return reader.parse(await createObject(next, asked, deps))
    },
    async update(resource, key, change) {
      const reader = readerOf(resource)
      const asked = { ...scope(reader, key), subresource: key.subresource ?? '' }
      const next = (current: AnyObject | undefined): AnyObject => {
        // changeObject never asks for a missing object unless it may be created.
        if (!current) throw new TypeError('Cannot update: there is no object')
        const copy = structuredClone(current)
        if (change(copy) === false) return current
        const typed = typedObject(copy, [], { ...asked, kind: reader.kind })
        trackChange(typed, current, asked, deps)
        return typed
      }
      const { updateAttemptsMax: attemptsMax } = deps.limits
      const wanted = { next, mayCreate: false, isDerived: true, attemptsMax }
      const { cached } = await changeObject(wanted, asked, deps)
      return reader.parse(cached)
    },
    async delete(resource, namespace, name, options) {
      const reader = readerOf(resource)
      const asked = options ? deleteOptionsOf({ ...options }) : noDeleteOptions
      try {
        await deleteObject(asked, scope(reader, { namespace, name }), deps)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    },
  }
}

/** The server itself asks, for the whole resource. */
export function serverScope(reader: KindReader, signal: AbortSignal): RequestScope {
  return {
    reader,
    namespace: '',
    name: '',
    subresource: '',
    user: serverUser,
    isDryRun: false,
    fieldManager: 'skerry',
    fieldValidation: 'Ignore',
    warn: () => undefined,
    isInternal: true,
    signal,
    options: undefined,
  }
}
