import type { PersistentVolumeClaim, Pod, StorageClass, Volume } from '@skerry/api'
import {
  refuseForGood,
  type PlacementContext,
  type Plugin,
  type Refusal,
} from '../framework/plugin.ts'
import { bySize, isReachable, matchVolumes, selectedNode } from '../framework/match-volumes.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { hasRoom } from '../framework/storage-capacity.ts'
import { isNodeEvent, type ClusterEvent } from '../framework/cluster-event.ts'

/**
 * Returns the claims a pod names, including those of generic ephemeral volumes, or undefined if one
 * is missing.
 */
export function claimsOf({
  pod,
  snapshot,
}: PlacementContext): (PersistentVolumeClaim | undefined)[] {
  return (pod.pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod.pod, volume)
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
 * Bound claims restrict the pod to nodes that reach their volume. Claims that wait for a consumer
 * need a node with a suitable volume or a provisioner, and are bound once the node is chosen.
 */
export const volumeBinding: Plugin = {
  name: 'VolumeBinding',
  preFilter: (context) => {
    const problem = problemOfClaims(context)
    if (problem !== undefined) return refuseForGood(problem)
    const isWaited = claimsOf(context).some(
      (claim) => claim !== undefined && !isBound(claim) && !waitsForConsumer(context, claim),
    )
    if (isWaited) return refuseForGood('pod has unbound immediate PersistentVolumeClaims')
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
  isHelpedBy: (event, pod) =>
    isOwnClaim(event, pod) ||
    event.kind === 'volume' ||
    event.kind === 'storage-class' ||
    event.kind === 'csi-node' ||
    event.kind === 'csi-driver' ||
    event.kind === 'storage-capacity' ||
    isNodeEvent(event, 'labels'),
}

/** Returns true if the event is about a claim that the pod names, or that is created for it. */
export function isOwnClaim(event: ClusterEvent, pod: Pod): boolean {
  if (event.kind !== 'claim') return false
  const { name, namespace } = event.claim.metadata
  if (namespace !== pod.metadata.namespace) return false
  return (pod.spec?.volumes ?? []).some((volume) => claimNameOf(pod, volume) === name)
}

/**
 * Returns the error of the first claim that is missing, not this pod's or being deleted, in
 * upstream's words.
 */
function problemOfClaims({ pod, snapshot }: PlacementContext): string | undefined {
  for (const volume of pod.pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod.pod, volume)
    if (name === undefined) continue
    const claim = snapshot.claim(pod.namespace, name)
    if (claim === undefined) {
      return volume.ephemeral === undefined
        ? `persistentvolumeclaim "${name}" not found`
        : `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
    }
    if (claim.status?.phase === 'Lost') {
      const lost = claim.spec?.volumeName ?? ''
      return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${lost}"`
    }
    if (claim.metadata.deletionTimestamp !== undefined) {
      return `persistentvolumeclaim "${name}" is being deleted`
    }
    const owner = claim.metadata.ownerReferences?.find((each) => each.controller === true)
    if (volume.ephemeral !== undefined && owner?.uid !== pod.uid) {
      return `PVC ${pod.namespace}/${name} was not created for pod ${pod.key} (pod is not owner)`
    }
  }
  return undefined
}

function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName
  return volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`
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
  if (selected !== undefined && selected !== node.name) return refuseForGood(noVolumeToBind)
  const storageClass = snapshot.storageClass(claim.spec?.storageClassName ?? '')
  const isProvisioned =
    storageClass !== undefined && storageClass.provisioner !== 'kubernetes.io/no-provisioner'
  if (!isProvisioned || !isInTopologies(storageClass, node)) return refuseForGood(noVolumeToBind)
  return hasRoom(snapshot, { claim, storageClass, node })
    ? undefined
    : refuseForGood('node(s) did not have enough free storage')
}

/** Returns true if the class allows creating volumes there; topologies are OR-ed, their labels AND-ed. */
function isInTopologies({ allowedTopologies = [] }: StorageClass, node: NodeInfo): boolean {
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? '')),
  )
}
