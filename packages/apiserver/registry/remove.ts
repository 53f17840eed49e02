import type { CachedObject } from '../cache/cached-object.ts'
import { storageKey } from '../cache/watch-cache.ts'
import type { RegistryDeps, RequestScope } from './request-scope.ts'

/** Resolves to the revision of the removal, or to undefined if the object changed meanwhile. */
export async function removeObject(
  current: CachedObject,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<number | undefined> {
  const { reader } = scope
  const result = await deps.store.write({
    key: storageKey(reader.storage, current.key),
    expectRevision: current.revision,
  })
  if (!result.isApplied) return undefined
  await deps.cache.waitFor(result.revision, scope.signal)
  deps.interceptors[reader.storage]?.onDeleted(reader.parse(current))
  return result.revision
}
