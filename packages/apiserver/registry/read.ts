import type { CachedObject } from '../cache/cached-object.ts'
import { badRequest, notFound } from './registry-errors.ts'
import { objectKey, type RegistryDeps, type RequestScope } from './request-scope.ts'

/** Throws StatusError NotFound. `resourceVersion`: unset = the newest, 0 = any, N = not older. */
export async function getObject(
  scope: RequestScope,
  resourceVersion: string,
  deps: RegistryDeps,
): Promise<CachedObject> {
  await waitForVersion(resourceVersion, scope.signal, deps)
  return cachedObject(scope, deps)
}

/** From the cache as it is now. */
export function cachedObject(scope: RequestScope, deps: RegistryDeps): CachedObject {
  const { reader, name } = scope
  const found = deps.cache.resource(reader.storage).get(objectKey(scope))
  if (!found) throw notFound(reader.kind, name)
  return found
}

export async function waitForVersion(
  resourceVersion: string,
  signal: AbortSignal,
  deps: RegistryDeps,
): Promise<void> {
  if (resourceVersion === '') await deps.cache.fresh(signal)
  else await deps.cache.waitFor(parseResourceVersion(resourceVersion), signal)
}

/** 0 for unset. */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0
  const revision = /^\d{1,15}$/.test(text) ? Number(text) : -1
  if (revision < 0) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  return revision
}
