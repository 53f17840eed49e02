import { isStatusError } from '@skerry/api'
import { runAll } from '@skerry/base'
import type { Selection } from '../cache/selection.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import type { DeleteOptions } from './delete-options.ts'
import { deleteObject } from './delete.ts'
import { listObjects, type ListPage } from './list.ts'
import type { RegistryDeps, RequestScope } from './request-scope.ts'

/** Deletes the selected objects, a few at a time. An object that is already gone is not an error. */
export async function deleteCollection(
  selection: Selection,
  options: DeleteOptions,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<ListPage> {
  const found = await listObjects(
    { selection, limit: 0, continueToken: '', resourceVersion: '', resourceVersionMatch: '' },
    scope,
    deps,
  )
  const deleted: CachedObject[] = []
  const pending = [...found.items]
  const work = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const item = pending.shift()
      if (!item || signal.aborted) return
      const itemScope = { ...scope, namespace: item.namespace, name: item.name, signal }
      try {
        await deleteObject(options, itemScope, deps)
        deleted.push(item)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    }
  }
  await runAll(
    scope.signal,
    Array.from({ length: deps.limits.deleteWorkers }, () => work),
  )
  // Upstream's lists of custom resources have an empty continue token here.
  const { isCustom } = scope.reader.kind
  return { items: deleted, revision: found.revision, ...(isCustom ? { continueToken: '' } : {}) }
}
