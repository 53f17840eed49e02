import type { KubeObject } from '@skerry/api'
import { ifThere, type TypedResource } from '@skerry/client'
import type { ControllerContext } from './controller.ts'

/**
 * Removes the finalizer from the object if it has it, and only if the object has not changed meanwhile. An
 * object that is gone needs nothing more.
 */
export async function dropFinalizer<T extends KubeObject>(
  { object, resource, finalizer }: { object: T; resource: TypedResource<T>; finalizer: string },
  context: Pick<ControllerContext, 'client'>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '', finalizers = [], resourceVersion } = object.metadata
  if (!finalizers.includes(finalizer)) return
  const rest = finalizers.filter((each) => each !== finalizer)
  const patch = { metadata: { finalizers: rest, resourceVersion } }
  const key = { name, ...(namespace ? { namespace } : {}) }
  await ifThere(context.client(resource).patch({ ...key, type: 'merge', patch }, signal))
}
