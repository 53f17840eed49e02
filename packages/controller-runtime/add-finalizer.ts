import type { KubeObject } from '@skerry/api'
import { ifThere, type TypedResource } from '@skerry/client'
import type { ControllerContext } from './controller.ts'

/** Adds the finalizer to the object, and only if the object has not changed meanwhile. An object that is gone needs none. */
export async function addFinalizer<T extends KubeObject>(
  added: {
    object: T
    resource: TypedResource<T>
    finalizer: string
    /** The manager that owns the field. If omitted, the server names it after the client. */
    fieldManager?: string
  },
  context: Pick<ControllerContext, 'client'>,
  signal: AbortSignal,
): Promise<void> {
  const { object, resource, finalizer, fieldManager } = added
  const { namespace, name = '', finalizers = [], resourceVersion } = object.metadata
  const request = {
    name,
    ...(namespace ? { namespace } : {}),
    type: 'merge',
    patch: { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } },
    ...(fieldManager === undefined ? {} : { fieldManager }),
  } as const
  await ifThere(context.client(resource).patch(request, signal))
}
