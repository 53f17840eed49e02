import { resources } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { PlacementContext } from './framework/plugin.ts'
import { deviceClaimsOf, isReservedFor } from './plugins/dynamic-resources.ts'

/**
 * Adds the pod to the users of its claims; otherwise a node does not start the pod. Rejects with
 * Conflict if another writer has just changed a claim.
 */
export async function reserveDevices(
  { informers }: { informers: InformerSet },
  context: PlacementContext,
  signal: AbortSignal,
): Promise<void> {
  const { uid, pod } = context.pod
  for (const claim of deviceClaimsOf(context)) {
    if (isReservedFor(claim, uid)) continue
    const { name = '', namespace = '', resourceVersion } = claim.metadata
    const user = { resource: 'pods', name: pod.metadata.name, uid }
    const reservedFor = [...(claim.status?.reservedFor ?? []), user]
    const patch = { metadata: { resourceVersion }, status: { reservedFor } }
    await informers
      .client(resources.resourceClaims)
      .patchStatus({ type: 'merge', namespace, name, patch }, signal)
  }
}
