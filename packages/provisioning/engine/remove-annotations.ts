import { isStatusError, type KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'

/** Removes annotations whose wish is fulfilled. One that was written again meanwhile stays. */
export async function removeAnnotations<T extends KubeObject>(
  resource: TypedResource<T>,
  { metadata }: T,
  { keys, context }: { readonly keys: readonly string[]; readonly context: ControllerContext },
  signal: AbortSignal,
): Promise<void> {
  if (keys.length === 0) return
  const { namespace = '', name = '', uid, annotations = {} } = metadata
  const path = (key: string): string => `/metadata/annotations/${key.replaceAll('/', '~1')}`
  const removals = keys.flatMap((key) => [
    { op: 'test', path: path(key), value: annotations[key] },
    { op: 'remove', path: path(key) },
  ])
  const patch = [{ op: 'test', path: '/metadata/uid', value: uid }, ...removals]
  try {
    await context.client(resource).patch({ namespace, name, type: 'json', patch }, signal)
  } catch (error) {
    if (!isStatusError(error, 'Invalid') && !isStatusError(error, 'NotFound')) throw error
  }
}
