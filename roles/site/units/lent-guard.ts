import { equalJson, isJsonObject, StatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { CompanionWrite, Store, Write } from '@skerry/store'
import type { StoredObject } from './unit-share.ts'

/** The key under which the store of a unit's own control plane has the list of what its parent lends. */
export const lentKey = '/lent'

/** Objects that each cluster writes for itself, though their first state is a copy. */
const writtenHere: ReadonlySet<string> = new Set([
  'core/endpoints',
  'discovery.k8s.io/endpointslices',
])

/** Returns the keys of the lent objects that the unit must not change: the parent goes on with them. */
export function keptKeys(lent: readonly StoredObject[]): string[] {
  const isKept = ({ resource, object }: StoredObject): boolean =>
    !writtenHere.has(resource) &&
    (object.metadata.namespace !== undefined || resource === 'core/namespaces')
  return lent.filter(isKept).map(({ key }) => key)
}

/** Returns the store with what was lent to it guarded, if it is that of a unit; otherwise the store itself. */
export async function guardLent(inner: Store): Promise<Store> {
  const { entry } = await inner.get(lentKey)
  if (entry === undefined) return inner
  const lent = new Set(readKeys(entry.value))
  return {
    revision: () => inner.revision(),
    get: (key, revision) => inner.get(key, revision),
    list: (options) => inner.list(options),
    async write(write) {
      for (const each of [write, ...(write.companions ?? [])]) {
        if (lent.has(each.key)) await requireSame(inner, each)
      }
      return inner.write(write)
    },
    watch: (options, signal) => inner.watch(options, signal),
    compact: (revision) => inner.compact(revision),
    compactedRevision: () => inner.compactedRevision(),
    grantLease: (ttlSeconds) => inner.grantLease(ttlSeconds),
    keepLeaseAlive: (leaseId) => inner.keepLeaseAlive(leaseId),
    revokeLease: (leaseId) => inner.revokeLease(leaseId),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
}

/** A state is this cluster's own, e.g. that of a DaemonSet's pods here. */
async function requireSame(inner: Store, { key, value }: Write | CompanionWrite): Promise<void> {
  const { entry } = await inner.get(key)
  if (entry === undefined) return
  if (value !== undefined && equalJson(withoutStatus(entry.value), withoutStatus(value))) return
  throw new StatusError(
    'Forbidden',
    `Cannot write ${key.slice('/registry/'.length)}: this cluster is a unit of another one, which lends it the object; change it there once the unit is back`,
  )
}

function withoutStatus(value: Uint8Array): unknown {
  const object: unknown = JSON.parse(Buffer.from(value).toString())
  if (!isJsonObject(object)) return object
  const { status: _state, metadata, ...rest } = object
  const { managedFields: _fields, ...named } = isJsonObject(metadata) ? metadata : {}
  return { ...rest, metadata: named }
}

function readKeys(value: Uint8Array): string[] {
  try {
    const keys: unknown = JSON.parse(Buffer.from(value).toString())
    if (Array.isArray(keys)) return keys.map(String)
  } catch (cause) {
    throw damaged(cause)
  }
  throw damaged()
}

function damaged(cause?: unknown): ExpectedError {
  const text = `Cannot start: the record ${lentKey} of lent objects is damaged; restore the store from a backup`
  return new ExpectedError(text, exitCodes.dataDirectory, { cause })
}
