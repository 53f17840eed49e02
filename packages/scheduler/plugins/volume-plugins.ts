import {
  compareQuantities,
  labelSelectorOf,
  matchesNodeSelectorTerms,
  parseQuantity,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@skerry/api'
import {
  refuse,
  refuseForGood,
  type PlacementContext,
  type Plugin,
  type Refusal,
} from '../plugin.ts'
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
    return (node) => {
      for (const claim of claims) {
        const refusal = isBound(claim)
          ? refuseBound(context, claim, node)
          : refuseUnbound(context, claim, node)
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

function isReachable(volume: PersistentVolume, node: NodeInfo): boolean {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms
  return terms === undefined || matchesNodeSelectorTerms(terms, node)
}

function refuseUnbound(
  context: PlacementContext,
  claim: PersistentVolumeClaim,
  node: NodeInfo,
): Refusal | undefined {
  const selected = claim.metadata.annotations?.['volume.kubernetes.io/selected-node']
  if (selected !== undefined && selected !== node.name) {
    return refuse(noVolumeToBind)
  }
  const storageClass = context.snapshot.storageClass(claim.spec?.storageClassName ?? '')
  const isProvisioned =
    storageClass !== undefined && storageClass.provisioner !== 'kubernetes.io/no-provisioner'
  if (isProvisioned) {
    return isInTopologies(storageClass, node) ? undefined : refuse(noVolumeToBind)
  }
  const fits = context.snapshot
    .volumes()
    .some((volume) => isFree(volume) && suits(volume, claim) && isReachable(volume, node))
  return fits ? undefined : refuse(noVolumeToBind)
}

/** Where the class says that its volumes may be made; topologies are OR-ed, their labels AND-ed. */
function isInTopologies({ allowedTopologies = [] }: StorageClass, node: NodeInfo): boolean {
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? '')),
  )
}

function isFree(volume: PersistentVolume): boolean {
  return (
    volume.spec?.claimRef === undefined && (volume.status?.phase ?? 'Available') === 'Available'
  )
}

function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if ((volume.spec?.storageClassName ?? '') !== (claim.spec?.storageClassName ?? '')) return false
  if ((volume.spec?.volumeMode ?? 'Filesystem') !== (claim.spec?.volumeMode ?? 'Filesystem'))
    return false
  const modes = volume.spec?.accessModes ?? []
  if (!(claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode))) return false
  if (claim.spec?.selector !== undefined) {
    if (!labelSelectorOf(claim.spec.selector).matches(volume.metadata.labels ?? {})) return false
  }
  const offered = parseQuantity(String(volume.spec?.capacity?.['storage'] ?? '0'))
  const asked = parseQuantity(String(claim.spec?.resources?.requests?.['storage'] ?? '0'))
  return compareQuantities(offered, asked) >= 0
}
