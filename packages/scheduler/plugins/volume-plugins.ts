import type { PersistentVolumeClaim, StorageClass } from '@skerry/api'
import {
  refuse,
  refuseForGood,
  type PlacementContext,
  type Plugin,
  type Refusal,
} from '../plugin.ts'
import { bySize, isReachable, matchVolumes, selectedNode } from '../match-volumes.ts'
import type { NodeInfo } from '../node-info.ts'
import { isNodeEvent } from '../cluster-event.ts'

/** The claims a pod names, those of generic ephemeral volumes included; undefined where one is missing. */
export function claimsOf({
  pod,
  snapshot,
}: PlacementContext): (PersistentVolumeClaim | undefined)[] {
  return (pod.pod.spec?.volumes ?? []).flatMap((volume) => {
    const name =
      volume.persistentVolumeClaim?.claimName ??
      (volume.ephemeral === undefined ? undefined : `${pod.pod.metadata.name}-${volume.name}`)
    return name === undefined ? [] : [snapshot.claim(pod.namespace, name)]
  })
}

function waitsForConsumer(context: PlacementContext, claim: PersistentVolumeClaim): boolean {
  const className = claim.spec?.storageClassName
  if (className === undefined || className === '') return false
  return context.snapshot.storageClass(className)?.volumeBindingMode === 'WaitForFirstConsumer'
}

const noVolumeToBind = "node(s) didn't find available persistent volumes to bind"

/**
 * Bound claims pull the pod to where their volume is; claims that wait for a consumer need a node
 * with a fitting volume or a provisioner, and are bound once the node is chosen.
 */
export const volumeBinding: Plugin = {
  name: 'VolumeBinding',
  preFilter: (context) => {
    for (const volume of context.pod.pod.spec?.volumes ?? []) {
      const name = volume.persistentVolumeClaim?.claimName
      if (name !== undefined && context.snapshot.claim(context.pod.namespace, name) === undefined) {
        return refuseForGood(`persistentvolumeclaim "${name}" not found`)
      }
    }
    for (const claim of claimsOf(context)) {
      if (claim === undefined)
        return refuseForGood(
          'waiting for ephemeral volume controller to create the persistentvolumeclaim',
        )
      if (claim.metadata.deletionTimestamp !== undefined) {
        return refuseForGood(`persistentvolumeclaim "${claim.metadata.name}" is being deleted`)
      }
      if (!isBound(claim) && !waitsForConsumer(context, claim)) {
        return refuseForGood('pod has unbound immediate PersistentVolumeClaims')
      }
    }
    return undefined
  },
  filter: (context) => {
    const claims = claimsOf(context).filter((claim) => claim !== undefined)
    if (claims.length === 0) return undefined
    const bound = claims.filter(isBound)
    const unbound = claims.filter((claim) => !isBound(claim))
    const volumes = unbound.length === 0 ? [] : bySize(context.snapshot.volumes())
    return (node) => {
      for (const claim of bound) {
        const refusal = refuseBound(context, claim, node)
        if (refusal !== undefined) return refusal
      }
      const matches = unbound.length === 0 ? undefined : matchVolumes(unbound, volumes, node)
      for (const claim of unbound) {
        const refusal = matches?.has(claim) ? undefined : refuseUnbound(context, claim, node)
        if (refusal !== undefined) return refusal
      }
      return undefined
    }
  },
  isHelpedBy: (event) =>
    event.kind === 'claim' ||
    event.kind === 'volume' ||
    event.kind === 'storage-class' ||
    isNodeEvent(event, 'labels'),
}

export function isBound(claim: PersistentVolumeClaim): boolean {
  return (
    (claim.spec?.volumeName ?? '') !== '' &&
    claim.metadata.annotations?.['pv.kubernetes.io/bind-completed'] !== undefined
  )
}

function refuseBound(
  { snapshot }: PlacementContext,
  claim: PersistentVolumeClaim,
  node: NodeInfo,
): Refusal | undefined {
  const volume = snapshot.volume(claim.spec?.volumeName ?? '')
  if (volume === undefined)
    return refuseForGood(
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    )
  return isReachable(volume, node)
    ? undefined
    : refuseForGood("node(s) didn't match PersistentVolume's node affinity")
}

function refuseUnbound(
  { snapshot }: PlacementContext,
  claim: PersistentVolumeClaim,
  node: NodeInfo,
): Refusal | undefined {
  const selected = claim.metadata.annotations?.[selectedNode]
  if (selected !== undefined && selected !== node.name) return refuse(noVolumeToBind)
  const storageClass = snapshot.storageClass(claim.spec?.storageClassName ?? '')
  const isProvisioned =
    storageClass !== undefined && storageClass.provisioner !== 'kubernetes.io/no-provisioner'
  return isProvisioned && isInTopologies(storageClass, node) ? undefined : refuse(noVolumeToBind)
}

/** Where the class says that its volumes may be made; topologies are OR-ed, their labels AND-ed. */
function isInTopologies({ allowedTopologies = [] }: StorageClass, node: NodeInfo): boolean {
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? '')),
  )
}
