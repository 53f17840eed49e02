import { isStatusError, type Job } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { conditionOf, isFinished } from './job-spec.ts'

/** Deletes finished jobs when their ttlSecondsAfterFinished is over. */
export const ttlAfterFinishedController: ControllerDefinition = {
  name: 'ttl-after-finished-controller',
  workers: 2,
  watches: [
    watch(resources.jobs, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && expiryMs(object) !== undefined ? [keyOfObject(object)] : [],
    }),
  ],
  reconcile,
}

/** Returns the wall time at which to delete the job, or undefined while it runs or if it stays. */
function expiryMs(job: Job): number | undefined {
  const seconds = job.spec?.ttlSecondsAfterFinished
  if (seconds === undefined || job.metadata.deletionTimestamp || !isFinished(job)) return undefined
  const condition = conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed')
  return Date.parse(condition?.lastTransitionTime ?? '') + seconds * 1000
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const cached = context.informer(resources.jobs).get(parseKey(key))
  const cachedExpiryMs = cached && expiryMs(cached)
  if (cachedExpiryMs === undefined) return
  const nowMs = context.clock.now()
  if (cachedExpiryMs > nowMs) return { requeueAfterMs: cachedExpiryMs - nowMs }
  try {
    // A deletion is final, and the TTL may have been prolonged since the cache was filled.
    const live = await context.cluster.resource(resources.jobs).get(parseKey(key), signal)
    const liveExpiryMs = expiryMs(live)
    if (liveExpiryMs === undefined) return
    if (liveExpiryMs > nowMs) return { requeueAfterMs: liveExpiryMs - nowMs }
    const { uid = '', resourceVersion = '' } = live.metadata
    const preconditions = { uid, resourceVersion }
    await context
      .client(resources.jobs)
      .delete({ ...parseKey(key), propagationPolicy: 'Foreground', preconditions }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
