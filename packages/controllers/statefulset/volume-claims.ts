import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'

export function claimName(set: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${set.metadata.name}-${ordinal}`
}

/** Returns the claims of the pod of this ordinal, in the form in which missing ones are created. */
export function claimsOf(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const { namespace } = set.metadata
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...(template.metadata.annotations ? { annotations: template.metadata.annotations } : {}),
      name: claimName(set, template.metadata.name ?? '', ordinal),
      ...(namespace ? { namespace } : {}),
      labels: { ...template.metadata.labels, ...set.spec?.selector.matchLabels },
    },
    ...(template.spec ? { spec: template.spec } : {}),
  }))
}

export interface ClaimUse {
  set: StatefulSet
  pod: Pod
  /** True if the pod's ordinal is beyond the wanted replicas. */
  isScaledDown: boolean
}

/**
 * Returns true if an earlier pod or set of the same name left the claim, which is about to be
 * deleted with it.
 */
export function hasStaleOwner(claim: PersistentVolumeClaim, owner: StatefulSet | Pod): boolean {
  const reference = ownersOf(claim).find((each) => isNamed(each, owner))
  return reference !== undefined && reference.uid !== owner.metadata.uid
}

/** Returns true for another owner's claim under our name, to which the retention policy does not apply. */
export function hasOtherController(claim: PersistentVolumeClaim, { set, pod }: ClaimUse): boolean {
  if (!deletesClaims(set)) return false
  return ownersOf(claim).some((reference) => {
    for (const own of [set, pod]) {
      if (isNamed(reference, own)) return reference.uid !== own.metadata.uid
    }
    return reference.controller === true
  })
}

/**
 * Returns the owner references that the retention policy requires, or undefined if they are set.
 * The garbage collector then deletes the claim with its owner.
 */
export function planClaimOwners(
  claim: PersistentVolumeClaim,
  use: ClaimUse,
): OwnerReference[] | undefined {
  const { set, pod } = use
  if (hasStaleOwner(claim, set) || hasStaleOwner(claim, pod)) return undefined
  const known = ownersOf(claim)
  const others = known.filter((each) => !isNamed(each, set) && !isNamed(each, pod))
  const wanted = hasOtherController(claim, use) ? undefined : ownerByPolicy(use)
  const next = wanted ? [...others, controllerReference(wanted)] : others
  return isSame(known, next) ? undefined : next
}

function ownerByPolicy({ set, pod, isScaledDown }: ClaimUse): StatefulSet | Pod | undefined {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  if (isScaledDown && whenScaled === 'Delete') return pod
  if (whenDeleted === 'Delete') return set
  return undefined
}

function deletesClaims(set: StatefulSet): boolean {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  return whenDeleted === 'Delete' || whenScaled === 'Delete'
}

function ownersOf(claim: PersistentVolumeClaim): readonly OwnerReference[] {
  return claim.metadata.ownerReferences ?? []
}

function isNamed(reference: OwnerReference, owner: StatefulSet | Pod): boolean {
  return (
    reference.apiVersion === owner.apiVersion &&
    reference.kind === owner.kind &&
    reference.name === owner.metadata.name
  )
}

function isSame(first: readonly OwnerReference[], second: readonly OwnerReference[]): boolean {
  return (
    first.length === second.length &&
    second.every((each) =>
      first.some(({ uid, controller }) => uid === each.uid && controller === each.controller),
    )
  )
}
