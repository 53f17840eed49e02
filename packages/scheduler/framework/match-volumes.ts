import {
  compareQuantities,
  labelSelectorOf,
  matchesNodeSelectorTerms,
  parseQuantity,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '@skerry/api'
import type { NodeInfo } from './node-info.ts'

export const selectedNode = 'volume.kubernetes.io/selected-node'

/**
 * Matches existing volumes with claims that wait for their consumer: each claim gets the volume
 * that is reserved for it, else the smallest suitable one, and no volume is used twice. Claims
 * without a volume are left out. `volumes` are sorted by bySize.
 */
export function matchVolumes(
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[],
  node: NodeInfo,
): Map<PersistentVolumeClaim, PersistentVolume> {
  const matches = new Map<PersistentVolumeClaim, PersistentVolume>()
  const taken = new Set<PersistentVolume>()
  // Small claims come first, so that none of them takes a volume that a large claim needs.
  for (const claim of claims.toSorted((a, b) => compareQuantities(sizeAsked(a), sizeAsked(b)))) {
    // A provisioner is already creating a volume for it.
    if (claim.metadata.annotations?.[selectedNode] !== undefined) continue
    const reserved = volumes.find((volume) => isReservedFor(volume, claim))
    const found = reserved
      ? isReachable(reserved, node) && reserved
      : volumes.find(
          (volume) =>
            !taken.has(volume) &&
            isFree(volume) &&
            suits(volume, claim) &&
            isReachable(volume, node),
        )
    if (!found) continue
    taken.add(found)
    matches.set(claim, found)
  }
  return matches
}

export function bySize(volumes: readonly PersistentVolume[]): PersistentVolume[] {
  return volumes.toSorted((a, b) => compareQuantities(sizeOf(a), sizeOf(b)))
}

export function isReachable(volume: PersistentVolume, node: NodeInfo): boolean {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms
  return terms === undefined || matchesNodeSelectorTerms(terms, node)
}

/** Compares name and uid. A volume that was reserved by hand has no uid yet. */
export function isReservedFor({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { namespace, name, uid } = spec?.claimRef ?? {}
  if (name !== claim.metadata.name || namespace !== claim.metadata.namespace) return false
  return !uid || uid === claim.metadata.uid
}

function isFree({ metadata, spec, status }: PersistentVolume): boolean {
  return (
    spec?.claimRef === undefined &&
    metadata.deletionTimestamp === undefined &&
    (status?.phase ?? 'Available') === 'Available'
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
  return compareQuantities(sizeOf(volume), sizeAsked(claim)) >= 0
}

function sizeOf({ spec }: PersistentVolume): ReturnType<typeof parseQuantity> {
  return parseQuantity(String(spec?.capacity?.['storage'] ?? '0'))
}

function sizeAsked({ spec }: PersistentVolumeClaim): ReturnType<typeof parseQuantity> {
  return parseQuantity(String(spec?.resources?.requests?.['storage'] ?? '0'))
}
