import { isStatusError, type Namespace } from '@skerry/api'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'

/** Gives every active namespace the service account "default". */
export const serviceAccountController: ControllerDefinition = {
  name: 'serviceaccount-controller',
  watches: [
    watch(resources.namespaces, { keysOf: activeNamespace }),
    watch(resources.serviceAccounts, {
      keysOf: ({ type, object }) =>
        type === 'deleted' && object.metadata.name === 'default'
          ? [object.metadata.namespace ?? '']
          : [],
    }),
  ],
  reconcile,
}

/** Returns the key of an active namespace; nothing is created in one that is being deleted. */
export function activeNamespace({ type, object }: Change<Namespace>): string[] {
  return type !== 'deleted' && isActive(object) ? [keyOfObject(object)] : []
}

function isActive(namespace: Namespace): boolean {
  return (
    namespace.metadata.deletionTimestamp === undefined && namespace.status?.phase !== 'Terminating'
  )
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const namespace = context.informer(resources.namespaces).get(parseKey(key))
  if (namespace === undefined || !isActive(namespace)) return
  const name = namespace.metadata.name ?? ''
  if (context.informer(resources.serviceAccounts).get({ namespace: name, name: 'default' })) return
  try {
    await context.client(resources.serviceAccounts).create(
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace: name },
      },
      signal,
    )
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists') && !isStatusError(error, 'NotFound')) throw error
  }
}
