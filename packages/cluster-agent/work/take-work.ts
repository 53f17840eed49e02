import { isStatusError, type AnyObject } from '@skerry/api'
import {
  karmadaKeys,
  ownershipAnnotations,
  ownershipLabels,
  type Work,
} from '@skerry/karmada-kinds'
import { isManaged } from './plan-manifest.ts'
import { planLeaving } from './plan-shared.ts'
import { isSharingKey, sharersOf } from './shared-object.ts'
import { placesOf, type WorkContext } from './work-context.ts'

/** The context for removing a Work's objects. */
export type TakenFrom = Pick<WorkContext, 'clusterName' | 'member' | 'mapping'>

/** Deletes the objects of a Work, or leaves them to the cluster. False while one is still there. */
export async function takeWork(from: TakenFrom, work: Work, signal: AbortSignal): Promise<boolean> {
  let isGone = true
  for (const place of placesOf(from, work)) {
    isGone = (await takeObject(from, { work, place }, signal)) && isGone
  }
  return isGone
}

async function takeObject(
  { member, clusterName: cluster }: TakenFrom,
  { work, place }: { work: Work; place: AnyObject },
  signal: AbortSignal,
): Promise<boolean> {
  const readIfKnown = () => ifKnown(member.read(place, signal))
  const observed = await readIfKnown()
  if (observed === undefined || !mayTake(observed, work)) return true
  const leaving = planLeaving({ cluster, desired: place, observed })
  if (leaving.act === 'leave') return true
  if (leaving.act === 'part') {
    const left = await ifKnown(member.mergePatch(observed, leaving.patch, signal))
    if (left === undefined || sharersOf(left).size > 0) return true
  }
  if (work.spec.preserveResourcesOnDeletion === true) {
    await member.mergePatch(observed, releasePatch(observed), signal)
    return true
  }
  if (!observed.metadata.deletionTimestamp) await member.delete(observed, signal)
  return (await readIfKnown()) === undefined
}

/** A kind that the cluster no longer serves has no objects. */
async function ifKnown(read: Promise<AnyObject | undefined>): Promise<AnyObject | undefined> {
  try {
    return await read
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

/** Objects that are not Karmada's, or that belong to another cluster's Works, are not this Work's to delete. */
function mayTake(observed: AnyObject, { metadata }: Work): boolean {
  const owner = observed.metadata.annotations?.[karmadaKeys.workNamespace]
  return isManaged(observed) && (owner === undefined || owner === metadata.namespace)
}

/** Removes every mark that makes an object Karmada's. */
function releasePatch({ metadata }: AnyObject) {
  const sharing = Object.keys(metadata.annotations ?? {}).filter(isSharingKey)
  const none = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]))
  return {
    metadata: {
      labels: none(ownershipLabels),
      annotations: none([...ownershipAnnotations, ...sharing]),
    },
  }
}
