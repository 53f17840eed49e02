import { isStatusError, type AnyObject, type GroupResource, StatusError } from '@skerry/api'
import type { UserInfo } from '../contract/access.ts'
import type { Objects } from '../contract/objects.ts'
import { createObject } from './create.ts'
import { typedObject } from './decode.ts'
import { deleteOptionsOf } from './delete-options.ts'
import { deleteObject } from './delete.ts'
import { applied, trackChange } from './managed-fields.ts'
import type { KindReader } from './kind-reader.ts'
import type { RegistryDeps, RequestScope } from './request-scope.ts'
import { changeObject, type Change } from './update.ts'

const serverUser: UserInfo = Object.freeze({
  name: 'system:apiserver',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})

/** The owner of fields that the server itself writes. Upstream's name, which tools know. */
const ownFieldOwner = 'kube-apiserver'

const noDeleteOptions = Object.freeze({
  isDryRun: false,
  object: { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', metadata: {} },
})

/** Creates the server's own access: reads from the cache, writes through the registry with admission. */
export function createServerObjects(deps: RegistryDeps, signal: AbortSignal): Objects {
  const readerOf = (resource: GroupResource): KindReader => {
    const reader = deps.kinds.findStored(resource)
    if (reader) return reader
    const name = `${resource.resource}.${resource.group}`
    throw new StatusError('NotFound', `Cannot use ${name}: it is not served`)
  }
  const scope = (reader: KindReader, key: { namespace: string; name: string }): RequestScope => ({
    ...serverScope(reader, signal),
    namespace: reader.kind.isNamespaced ? key.namespace : '',
    name: key.name,
  })
  const written = async (next: Change['next'], asked: RequestScope): Promise<AnyObject> => {
    const { updateAttemptsMax: attemptsMax } = deps.limits
    const change = { next, mayCreate: false, isDerived: true, attemptsMax }
    const { cached } = await changeObject(change, asked, deps)
    return asked.reader.parse(cached)
  }
  return {
    ...readsOf(deps, readerOf),
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
      const next = (found: AnyObject | undefined): AnyObject => {
        const current = existing(found)
        const copy = structuredClone(current)
        if (change(copy) === false) return current
        const typed = typedObject(copy, [], { ...asked, kind: reader.kind })
        // A binding leaves the fields with their owners.
        if (asked.subresource !== 'binding') trackChange(typed, current, asked, deps)
        return typed
      }
      return written(next, asked)
    },
    async apply(resource, key, { manager: fieldManager, fields }) {
      const reader = readerOf(resource)
      const { name, namespace } = key
      const { apiVersion, kind } = reader
      const metadata = kind.isNamespaced ? { name, namespace } : { name }
      const configuration = { ...fields, apiVersion, kind: kind.kind, metadata }
      const asked = { ...scope(reader, key), subresource: key.subresource ?? '', fieldManager }
      const next = (found: AnyObject | undefined): AnyObject => {
        const request = { live: existing(found), applied: configuration, isForced: true }
        return typedObject(applied(request, asked, deps), [], { ...asked, kind })
      }
      return written(next, asked)
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

function readsOf(
  { cache }: RegistryDeps,
  readerOf: (resource: GroupResource) => KindReader,
): Pick<Objects, 'get' | 'unreadable' | 'list' | 'version'> {
  const cacheOf = ({ storage }: KindReader) => cache.resource(storage)
  const keyOf = ({ kind }: KindReader, namespace: string, name: string): string =>
    kind.isNamespaced ? `${namespace}/${name}` : name
  return {
    get(resource, namespace, name) {
      const reader = readerOf(resource)
      const cached = cacheOf(reader).get(keyOf(reader, namespace, name))
      return cached && reader.frozen(cached)
    },
    unreadable(resource, namespace, name) {
      const reader = readerOf(resource)
      return cacheOf(reader).unreadable(keyOf(reader, namespace, name))
    },
    list(resource, namespace) {
      const reader = readerOf(resource)
      return cacheOf(reader)
        .list(namespace)
        .map((cached) => reader.frozen(cached))
    },
    version: (resource) => cacheOf(readerOf(resource)).version,
  }
}

function existing(object: AnyObject | undefined): AnyObject {
  // changeObject never asks for a missing object unless it may be created.
  if (!object) throw new TypeError('Cannot update: there is no object')
  return object
}

/** Builds the scope of the server's own requests for the whole resource. */
export function serverScope(reader: KindReader, signal: AbortSignal): RequestScope {
  return {
    reader,
    namespace: '',
    name: '',
    subresource: '',
    user: serverUser,
    isDryRun: false,
    fieldManager: ownFieldOwner,
    fieldValidation: 'Ignore',
    warn: () => undefined,
    requireVerb: async () => undefined,
    isInternal: true,
    signal,
    options: undefined,
  }
}
