import { StatusError } from '@skerry/api'
import type { CachedObject } from '../cache/cached-object.ts'
import { unreadableObject } from '../contract/unreadable-object.ts'
import { badRequest, notFound, qualified } from './registry-errors.ts'
import { objectKey, type RegistryDeps, type RequestScope } from './request-scope.ts'

/** Throws StatusError NotFound. `resourceVersion`: unset = the newest, 0 = any, N = not older. */
export async function getObject(
  scope: RequestScope,
  resourceVersion: string,
  deps: RegistryDeps,
): Promise<CachedObject> {
  if (scope.reader.storage !== 'core/events') requireVersionNumber(resourceVersion)
  await waitForVersion(resourceVersion, scope.signal, deps)
  return cachedObject(scope, deps)
}

/** Returns the object from the current cache. */
function cachedObject(scope: RequestScope, deps: RegistryDeps): CachedObject {
  const resource = deps.cache.resource(scope.reader.storage)
  const found = resource.get(objectKey(scope))
  if (!found) throw missing(scope, deps)
  return found
}

/** Returns why the object cannot be read: it does not exist, or its bytes cannot be decrypted. */
export function missing(scope: RequestScope, deps: RegistryDeps): StatusError {
  const reason = deps.cache.resource(scope.reader.storage).unreadable(objectKey(scope))
  const { kind } = scope.reader
  if (reason === undefined) return notFound(kind, scope.name)
  return unreadableObject({ resource: qualified(kind), name: scope.name }, reason)
}

export async function waitForVersion(
  resourceVersion: string,
  signal: AbortSignal,
  deps: RegistryDeps,
): Promise<void> {
  if (resourceVersion === '') await deps.cache.fresh(signal)
  else await deps.cache.waitFor(parseResourceVersion(resourceVersion), signal)
}

/**
 * Upstream's watch cache, which does not hold events, refuses this itself, and nothing turns that
 * into a bad request.
 */
function requireVersionNumber(text: string): void {
  if (text === '' || /^\d{1,15}$/.test(text)) return
  throw new StatusError('Unknown', invalidVersion(text), { code: 500 })
}

/** Describes the error of a text that is not a version. */
export function invalidVersion(text: string): string {
  const quoted = JSON.stringify(text)
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`
}

/** Returns 0 if unset. */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0
  const revision = /^\d{1,15}$/.test(text) ? Number(text) : -1
  if (revision < 0) {
    throw badRequest(`invalid resource version: ${invalidVersion(text)}`)
  }
  return revision
}
