import { keyOfObject, parseKey, type IndexFunctions } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { executionNamespace } from '@skerry/fleet-kinds'
import { workResource, type Work } from '@skerry/karmada-kinds'
import { bindingScopes, originKey, type BindingScope } from './binding-scope.ts'
import { workPatch } from './plan-work.ts'

const namespacePrefix = executionNamespace('')

/** Indexes Works by their binding. */
export const workIndexes: IndexFunctions<Work> = Object.freeze(
  Object.fromEntries(
    bindingScopes.map((scope) => [
      scope.kind,
      ({ metadata }: Work) => {
        const key = originKey(scope, metadata.annotations)
        return key === undefined ? [] : [key]
      },
    ]),
  ),
)

/** The Works of a binding, whatever cluster they are for. */
export function worksOf(
  scope: BindingScope,
  bindingKey: string,
  context: ControllerContext,
): readonly Work[] {
  return context.informer(workResource).byIndex(scope.kind, bindingKey)
}

/** Returns an empty string for a Work outside of execution namespaces. */
export function clusterOfWork({ metadata }: Work): string {
  const { namespace = '' } = metadata
  return namespace.startsWith(namespacePrefix) ? namespace.slice(namespacePrefix.length) : ''
}

/** Makes or changes a Work; one that is being deleted is left until it is gone. False: all was well. */
export async function writeWork(
  planned: Work,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const key = parseKey(keyOfObject(planned))
  const known = context.informer(workResource).get(key)
  const works = context.client(workResource)
  if (known === undefined) {
    await works.create(planned, signal)
    return true
  }
  if (known.metadata.deletionTimestamp) return false
  const patch = workPatch(known, planned)
  if (patch === undefined) return false
  await works.patch({ ...key, type: 'merge', patch }, signal)
  return true
}
