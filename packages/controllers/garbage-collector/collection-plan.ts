import type { OwnerReference } from '@skerry/api'
import type { PartialObject } from '@skerry/client'
import {
  foregroundFinalizer,
  isDeletingDependents,
  orphanFinalizer,
  type GraphNode,
} from './owner-graph.ts'

/** The state of an owner according to a live read. */
export type OwnerState = 'solid' | 'absent' | 'waiting-for-dependents'

export type CollectionPlan =
  | { readonly action: 'keep' }
  /** Drop the references to owners that are gone or going; the object lives on with the others. */
  | { readonly action: 'drop-owners'; readonly ownerReferences: readonly OwnerReference[] }
  | {
      readonly action: 'delete'
      readonly propagationPolicy: 'Orphan' | 'Foreground' | 'Background'
      /** First unblock its owners: a cycle of waiting objects would never end. */
      readonly unblockOwners: boolean
    }

export interface CollectionInput {
  /** The object as the server has it now. */
  object: PartialObject
  owners: readonly { reference: OwnerReference; state: OwnerState }[]
  dependents: readonly GraphNode[]
}

/** An object with owners is deleted when the last of them is gone. */
export function planCollection({ object, owners, dependents }: CollectionInput): CollectionPlan {
  if (owners.length === 0) return { action: 'keep' }
  const solid = owners.filter(({ state }) => state === 'solid')
  if (solid.length === owners.length) return { action: 'keep' }
  if (solid.length > 0) {
    return { action: 'drop-owners', ownerReferences: solid.map(({ reference }) => reference) }
  }
  const isAwaited = owners.some(({ state }) => state === 'waiting-for-dependents')
  if (isAwaited && dependents.length > 0) {
    const unblockOwners = dependents.some(isDeletingDependents)
    return { action: 'delete', propagationPolicy: 'Foreground', unblockOwners }
  }
  const finalizers = object.metadata.finalizers ?? []
  const propagationPolicy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background'
  return { action: 'delete', propagationPolicy, unblockOwners: false }
}

/**
 * Finds an owner that exists, though no watch has shown it. If it is deleted before one does, its
 * end goes unnoticed, so its dependents must be checked again until it has been seen.
 */
export function unseenOwner(
  owners: CollectionInput['owners'],
  isSeen: (uid: string) => boolean,
): OwnerReference | undefined {
  return owners.find(({ reference, state }) => state !== 'absent' && !isSeen(reference.uid))
    ?.reference
}
