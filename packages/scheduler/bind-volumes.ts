import { resources } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { PlacementContext } from './plugin.ts'
import { claimsOf, isBound } from './plugins/volume-plugins.ts'

const selectedNode = 'volume.kubernetes.io/selected-node'

/**
 * Tells the volume controller which node the waiting claims of this pod belong to. True when every
 * claim is bound already, so that the pod can be bound now.
 */
export async function selectNodeForClaims(
  deps: { informers: InformerSet },
  context: PlacementContext,
  target: { nodeName: string; signal: AbortSignal },
): Promise<boolean> {
  const waiting = claimsOf(context).filter((claim) => claim !== undefined && !isBound(claim))
  for (const claim of waiting) {
    if (claim === undefined || claim.metadata.annotations?.[selectedNode] === target.nodeName)
      continue
    await deps.informers.client(resources.persistentVolumeClaims).patch(
      {
        type: 'merge',
        namespace: claim.metadata.namespace,
        name: claim.metadata.name ?? '',
        patch: { metadata: { annotations: { [selectedNode]: target.nodeName } } },
      },
      target.signal,
    )
  }
  return waiting.length === 0
}
