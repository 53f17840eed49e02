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
  const interceptor = deps.interceptors[reader.storage]
  for (let attempt = 1; attempt <= deps.limits.updateAttemptsMax; attempt += 1) {
    const companions = interceptor?.onDelete(reader.parse(current)) ?? []
    const result = await deps.store.write({
      key: storageKey(reader.storage, current.key),
      expectRevision: current.revision,
      ...(companions.length > 0 ? { companions } : {}),
    })
    if (!result.isApplied && result.refusedBy === undefined) return undefined
    await deps.cache.waitFor(result.revision, scope.signal)
    if (result.isApplied) return result.revision
  }
  return undefined
}
