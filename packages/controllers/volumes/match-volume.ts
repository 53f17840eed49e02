import {
  compareQuantities,
  labelSelectorOf,
  parseQuantity,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '@skerry/api'

export const annotations = Object.freeze({
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  storageProvisioner: 'volume.kubernetes.io/storage-provisioner',
  storageProvisionerBeta: 'volume.beta.kubernetes.io/storage-provisioner',
  selectedNode: 'volume.kubernetes.io/selected-node',
})

/** Returns the smallest free volume that satisfies the claim; one that is reserved for the claim wins. */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  fitsNode: (volume: PersistentVolume) => boolean,
): PersistentVolume | undefined {
  const prebound = volumes.find(
    (volume) => isReservedFor(volume, claim) && refusalOf(volume, claim) === undefined,
  )
  if (prebound !== undefined) return prebound
  return volumes
    .filter(
      (volume) =>
        volume.spec?.claimRef === undefined && volume.metadata.deletionTimestamp === undefined,
    )
    .filter((volume) => refusalOf(volume, claim) === undefined && fitsNode(volume))
    .toSorted((a, b) => compareQuantities(capacityOf(a), capacityOf(b)))[0]
}

/** Returns true if its claimRef names this claim: by uid once bound, by name alone while reserved by hand. */
export function isReservedFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const ref = volume.spec?.claimRef
  if (ref === undefined) return false
  if (ref.namespace !== claim.metadata.namespace || ref.name !== claim.metadata.name) return false
  return ref.uid === undefined || ref.uid === '' || ref.uid === claim.metadata.uid
}

/** Returns why this volume cannot serve the claim, or undefined if it can. */
export function refusalOf(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): string | undefined {
  if (compareQuantities(capacityOf(volume), requestOf(claim)) < 0)
    return 'requested PV is too small'
  if ((volume.spec?.storageClassName ?? '') !== (claim.spec?.storageClassName ?? '')) {
    return 'storageClassName does not match'
  }
  if ((volume.spec?.volumeMode ?? 'Filesystem') !== (claim.spec?.volumeMode ?? 'Filesystem')) {
    return 'incompatible volumeMode'
  }
  const modes = volume.spec?.accessModes ?? []
  if (!(claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode)))
    return 'incompatible accessMode'
  const { selector } = claim.spec ?? {}
  if (selector !== undefined && !labelSelectorOf(selector).matches(volume.metadata.labels ?? {})) {
    return 'selector does not match'
  }
  return undefined
}

function capacityOf(volume: PersistentVolume): ReturnType<typeof parseQuantity> {
  return parseQuantity(String(volume.spec?.capacity?.['storage'] ?? '0'))
}

function requestOf(claim: PersistentVolumeClaim): ReturnType<typeof parseQuantity> {
  return parseQuantity(String(claim.spec?.resources?.requests?.['storage'] ?? '0'))
}

export function isBound(claim: PersistentVolumeClaim): boolean {
  return (
    Boolean(claim.spec?.volumeName) &&
    claim.metadata.annotations?.[annotations.bindCompleted] !== undefined
  )
}
