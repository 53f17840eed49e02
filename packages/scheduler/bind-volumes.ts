import type { PersistentVolume, PersistentVolumeClaim } from '@skerry/api'
import { resources } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import { bySize, isReservedFor, matchVolumes, selectedNode } from './framework/match-volumes.ts'
import type { PlacementContext } from './framework/plugin.ts'
import { claimsOf, isBound } from './plugins/volume-plugins.ts'

const boundByController = 'pv.kubernetes.io/bound-by-controller'

interface Target {
  nodeName: string
  signal: AbortSignal
}

/**
 * Reserves a volume for each waiting claim of this pod that has a suitable one, and records for the
 * volume controller for which node to create the others. Resolves to true if every claim is bound
 * already, so that the pod can be bound now.
 */
export async function selectNodeForClaims(
  deps: { informers: InformerSet },
  context: PlacementContext,
  target: Target,
): Promise<boolean> {
  const waiting = claimsOf(context).filter((claim) => claim !== undefined && !isBound(claim))
  if (waiting.length === 0) return true
  const claims = waiting.flatMap((claim) => claim ?? [])
  const node = context.snapshot.node(target.nodeName)
  const volumes = bySize(context.snapshot.volumes())
  const matches = node && matchVolumes(claims, volumes, node)
  for (const claim of claims) {
    const volume = matches?.get(claim)
    if (volume) await reserve(deps, { volume, claim }, target)
    else await selectNode(deps, claim, target)
  }
  return false
}

/** Reserves the volume for this claim alone. Rejects with Conflict if another writer was faster. */
async function reserve(
  { informers }: { informers: InformerSet },
  { volume, claim }: { volume: PersistentVolume; claim: PersistentVolumeClaim },
  { signal }: Target,
): Promise<void> {
  if (isReservedFor(volume, claim)) return
  const { name, namespace, uid, resourceVersion } = claim.metadata
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid }
  const metadata = {
    resourceVersion: volume.metadata.resourceVersion,
    annotations: { [boundByController]: 'yes' },
  }
  const patch = { metadata, spec: { claimRef: { ...claimRef, resourceVersion } } }
  await informers
    .client(resources.persistentVolumes)
    .patch({ type: 'merge', name: volume.metadata.name ?? '', patch }, signal)
}

async function selectNode(
  { informers }: { informers: InformerSet },
  { metadata }: PersistentVolumeClaim,
  { nodeName, signal }: Target,
): Promise<void> {
  if (metadata.annotations?.[selectedNode] === nodeName) return
  const patch = { metadata: { annotations: { [selectedNode]: nodeName } } }
  const { namespace, name = '' } = metadata
  await informers
    .client(resources.persistentVolumeClaims)
    .patch({ type: 'merge', namespace, name, patch }, signal)
}
