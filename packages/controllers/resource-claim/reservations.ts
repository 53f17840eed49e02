import { isStatusError, type Pod, type ResourceClaim } from '@skerry/api'
import { resources } from '@skerry/client'
import { controllerOf, type ControllerContext } from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { isPodDone } from './pod-claims.ts'

/** Keeps a claim until its deallocation. */
const finalizer = 'resource.kubernetes.io/delete-protection'

type Consumer = NonNullable<NonNullable<ResourceClaim['status']>['reservedFor']>[number]

/**
 * Drops reservations of pods that are gone or done. After the last one, the allocation is removed,
 * and then the finalizer. A claim that was made for a finished pod is deleted.
 */
export async function reconcileClaim(
  claim: ResourceClaim,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const consumers = claim.status?.reservedFor ?? []
  const remaining: Consumer[] = []
  for (const consumer of consumers) {
    if (await isHeld({ claim, consumer }, context, signal)) remaining.push(consumer)
  }
  const isDeleted = claim.metadata.deletionTimestamp !== undefined
  if (remaining.length < consumers.length) {
    await writeReservations({ claim, remaining }, context, signal)
  } else if (isDeleted && isProtected(claim) && remaining.length === 0) {
    await writeReservations({ claim, remaining }, context, signal)
  }
  if (remaining.length === 0 && belongsToDonePod(claim, context)) {
    const { namespace, name = '' } = claim.metadata
    const client = context.client(resources.resourceClaims)
    await ignoreNotFound(client.delete({ namespace, name }, signal))
  }
}

/** Consumers other than pods are kept. */
async function isHeld(
  { claim, consumer }: { claim: ResourceClaim; consumer: Consumer },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<boolean> {
  if ((consumer.apiGroup ?? '') !== '' || consumer.resource !== 'pods') return true
  const key = { namespace: claim.metadata.namespace, name: consumer.name }
  const known = context.informer(resources.pods).get(key)
  if (known !== undefined) return known.metadata.uid === consumer.uid && !isPodDone(known)
  try {
    // The cache may be behind a new pod, so the server is asked before its reservation is dropped.
    const live: Pod = await context.cluster.resource(resources.pods).get(key, signal)
    return live.metadata.uid === consumer.uid
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false
    throw error
  }
}

function isProtected({ metadata }: ResourceClaim): boolean {
  return metadata.finalizers?.includes(finalizer) === true
}

async function writeReservations(
  { claim, remaining }: { claim: ResourceClaim; remaining: readonly Consumer[] },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const client = context.client(resources.resourceClaims)
  const { allocation, reservedFor = [], ...status } = claim.status ?? {}
  const isReleased = remaining.length === 0 && isProtected(claim)
  const nextStatus = {
    ...status,
    ...(allocation === undefined || isReleased ? {} : { allocation }),
    ...(remaining.length === 0 ? {} : { reservedFor: [...remaining] }),
  }
  const isChanged =
    remaining.length < reservedFor.length || (isReleased && allocation !== undefined)
  const written = isChanged
    ? await client.updateStatus({ ...claim, status: nextStatus }, signal)
    : claim
  if (!isProtected(written) || written.status?.allocation !== undefined) return
  const finalizers = (written.metadata.finalizers ?? []).filter((each) => each !== finalizer)
  await client.update({ ...written, metadata: { ...written.metadata, finalizers } }, signal)
}

/** A claim whose pod is unknown is left to the garbage collector. */
function belongsToDonePod(claim: ResourceClaim, context: ControllerContext): boolean {
  const owner = controllerOf(claim)
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Pod') return false
  const key = { namespace: claim.metadata.namespace, name: owner.name }
  const pod = context.informer(resources.pods).get(key)
  return pod !== undefined && (pod.metadata.uid !== owner.uid || isPodDone(pod))
}
