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

/** What a Work's objects are taken out of. */
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

/** Of a kind that the cluster has no more, there are no objects either. */
async function ifKnown(read: Promise<AnyObject | undefined>): Promise<AnyObject | undefined> {
  try {
    return await read
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

/** What is not Karmada's, or of another cluster's Works, was never this Work's to delete. */
function mayTake(observed: AnyObject, { metadata }: Work): boolean {
  const owner = observed.metadata.annotations?.[karmadaKeys.workNamespace]
  return isManaged(observed) && (owner === undefined || owner === metadata.namespace)
}

/** Takes away whatever says that an object is Karmada's. */
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
