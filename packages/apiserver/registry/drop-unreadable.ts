import { fieldInvalid, type StatusCause } from '@skerry/api'
import { storageKey } from '../cache/watch-cache.ts'
import { unreadableReason } from '../cache/unreadable-value.ts'
import { ignoreReadErrors, optionsKind, type DeleteOptions } from './delete-options.ts'
import { modifiedConflict, requireValid } from './registry-errors.ts'
import { objectKey, type RegistryDeps, type RequestScope } from './request-scope.ts'

/**
 * Removes an object whose stored bytes cannot be read, bypassing admission, finalizers and
 * preconditions, if the options request that. Resolves to false if they do not, or if the object is
 * readable or missing, so that it is deleted like any other. Throws Forbidden for users without
 * upstream's verb for this.
 */
export async function dropUnreadable(
  options: DeleteOptions,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<boolean> {
  if (options.object[ignoreReadErrors] !== true) return false
  const key = storageKey(scope.reader.storage, objectKey(scope))
  const { entry } = await deps.store.get(key)
  // A readable object ignores the option, as upstream does while its feature gate is off.
  if (!entry || unreadableReason(entry) === undefined) return false
  await scope.requireVerb('unsafe-delete-ignore-read-errors')
  requireValid(optionsKind, '', conflictsOf(options, scope))
  scope.annotate?.('apiserver.k8s.io/unsafe-delete-ignore-read-error', '')
  const result = await deps.store.write({ key, expectRevision: entry.modRevision })
  if (!result.isApplied) throw modifiedConflict(scope.reader.kind, scope.name)
  await deps.cache.waitFor(result.revision, scope.signal)
  return true
}

/** Options that require care conflict with a deletion that bypasses it. */
function conflictsOf({ object }: DeleteOptions, { isDryRun }: RequestScope): StatusCause[] {
  const others = ['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions']
  const set = others.filter((name) => object[name] !== undefined && object[name] !== null)
  return [...(isDryRun ? ['dryRun'] : []), ...set].map((name) =>
    fieldInvalid(ignoreReadErrors, true, `cannot be set together with .${name}`),
  )
}
