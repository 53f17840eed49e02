import {
  isStatusError,
  type KubeObject,
  type LabelSelector,
  type OwnerReference,
} from '@skerry/api'
import type { ObjectKey, ResourceClient, TypedResource } from '@skerry/client'
import type { ControllerContext } from './controller.ts'

/** Returns the one owner that manages this object. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

/** Indexes objects by the uid of their controller. Objects without one are under `orphansOf`. */
export function controllerUidIndex(object: KubeObject): readonly string[] {
  return [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace)]
}
export const byControllerUid = 'controllerUid'

function orphansOf(namespace: string | undefined): string {
  return `orphans/${namespace ?? ''}`
}

export function controllerReference(owner: KubeObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata
  const { apiVersion, kind } = owner
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

export interface ClaimPlan<T> {
  /** Objects that the owner already has. */
  readonly claimed: readonly T[]
  /** Objects without an owner that its selector matches. */
  readonly adopt: readonly T[]
  /** Objects that the owner has but its selector no longer matches. */
  readonly release: readonly T[]
}

/** Plans which objects an owner keeps, adopts and releases. An owner being deleted only keeps. */
export function planClaim<T extends KubeObject>(
  owner: KubeObject,
  selector: LabelSelector,
  objects: readonly T[],
): ClaimPlan<T> {
  const isGoing = owner.metadata.deletionTimestamp !== undefined
  const claimed: T[] = []
  const adopt: T[] = []
  const release: T[] = []
  for (const object of objects) {
    const controller = controllerOf(object)
    const matches = selector.matches(object.metadata.labels)
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue
      if (matches) claimed.push(object)
      else if (!isGoing) release.push(object)
    } else if (matches && !isGoing && object.metadata.deletionTimestamp === undefined) {
      adopt.push(object)
    }
  }
  return { claimed, adopt, release }
}

interface OwnedClaim<T extends KubeObject, O extends KubeObject> {
  readonly owner: O
  /** Reads the owner afresh before anything is adopted. */
  readonly owners: Pick<ResourceClient<O>, 'get'>
  readonly selector: LabelSelector
  /** The kind of the objects; its informer has the index `byControllerUid`. */
  readonly resource: TypedResource<T>
  /** Leaves out objects that are neither adopted nor released. */
  readonly isCandidate?: (object: T) => boolean
}

/** Adopts what the selector matches and nobody controls, releases what it does not match any more, and returns the rest. */
export function claimOwned<T extends KubeObject, O extends KubeObject>(
  { owner, owners, selector, resource, isCandidate = () => true }: OwnedClaim<T, O>,
  context: Pick<ControllerContext, 'informer' | 'client'>,
  signal: AbortSignal,
): Promise<T[]> {
  const informer = context.informer(resource)
  const { uid = '', namespace } = owner.metadata
  const candidates = [
    ...informer.byIndex(byControllerUid, uid),
    ...informer.byIndex(byControllerUid, orphansOf(namespace)),
  ].filter(isCandidate)
  const plan = planClaim(owner, selector, candidates)
  return claimObjects({ owner, owners, objects: context.client(resource), plan }, signal)
}

interface Claim<T extends KubeObject, O extends KubeObject> {
  owner: O
  owners: Pick<ResourceClient<O>, 'get'>
  objects: ResourceClient<T>
  plan: ClaimPlan<T>
}

/** Executes the plan. Returns the objects that the owner has afterwards. */
async function claimObjects<T extends KubeObject, O extends KubeObject>(
  { owner, owners, objects, plan }: Claim<T, O>,
  signal: AbortSignal,
): Promise<T[]> {
  const mine = [...plan.claimed]
  if (plan.adopt.length > 0) await ensureAlive(owner, owners, signal)
  for (const object of plan.adopt) {
    const adopted = await tolerateGone(objects.patch(adoption(owner, object), signal))
    if (adopted) mine.push(adopted)
  }
  for (const object of plan.release) {
    await tolerateGone(objects.patch(release(owner, object), signal))
  }
  return mine
}

/** The cache may be outdated, and an owner that is being deleted must not adopt anything. */
async function ensureAlive<O extends KubeObject>(
  owner: O,
  owners: Pick<ResourceClient<O>, 'get'>,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace, uid } = owner.metadata
  const live = await owners.get({ name, ...(namespace ? { namespace } : {}) }, signal)
  if (live.metadata.uid !== uid) {
    throw new Error(
      `Cannot adopt: ${owner.kind} ${name} was replaced: uid ${live.metadata.uid} instead of ${uid}`,
    )
  }
  if (live.metadata.deletionTimestamp) {
    throw new Error(`Cannot adopt: ${owner.kind} ${name} is being deleted`)
  }
}

function adoption(owner: KubeObject, object: KubeObject) {
  const ownerReferences = [controllerReference(owner)]
  const patch = { metadata: { ownerReferences, uid: object.metadata.uid } }
  return { ...nameOf(object), type: 'strategic' as const, patch }
}

/** Deletes by merge key, so that other owners' references stay. */
function release(owner: KubeObject, object: KubeObject) {
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }]
  const patch = { metadata: { ownerReferences, uid: object.metadata.uid } }
  return { ...nameOf(object), type: 'strategic' as const, patch }
}

function nameOf(object: KubeObject): ObjectKey {
  const { name = '', namespace } = object.metadata
  return { name, ...(namespace ? { namespace } : {}) }
}

/**
 * Ignores that the object is gone (NotFound) or replaced by another of the same name (Invalid: the
 * uid differs).
 */
async function tolerateGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Invalid')) return undefined
    throw error
  }
}
