import type { Pod, ResourceClaim, ResourceSlice } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  isControlledBy,
  runController,
  watch,
  type BackgroundController,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { markDisrupted } from '../pods/disruption-target.ts'
import { claimNameOf, claimNamesOf } from '../resource-claim/pod-claims.ts'
import { evictionMs, poolKey } from './device-taint-plan.ts'

const byClaim = 'deviceTaintsByClaim'
const byPool = 'deviceTaintsByPool'

/**
 * Evicts pods whose devices have a NoExecute taint that their claims do not tolerate, or no longer
 * tolerate.
 */
export const deviceTaintEvictionController: BackgroundController = {
  name: 'device-taint-eviction-controller',
  run: (deps, signal) => runController(evictingController(), deps, signal),
}

function evictingController(): ControllerDefinition {
  // The keys of pods whose eviction is scheduled. If it is cancelled, an event is recorded.
  const scheduled = new Set<string>()
  return {
    name: 'device-taint-eviction-controller',
    eventComponent: 'device-taint-eviction-controller',
    watches: [
      watch(resources.pods, {
        keysOf: ({ object }) =>
          (object.spec?.resourceClaims ?? []).length > 0 ? [keyOfObject(object)] : [],
        indexes: {
          [byClaim]: (pod) => claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`),
        },
      }),
      watch(resources.resourceClaims, {
        keysOf: ({ object }, context) => podsOf(object, context),
        indexes: { [byPool]: poolsOf },
      }),
      watch(resources.resourceSlices, {
        keysOf: ({ object, old }, context) =>
          [object, ...(old === undefined ? [] : [old])].flatMap((slice) =>
            context
              .informer(resources.resourceClaims)
              .byIndex(byPool, poolOf(slice))
              .flatMap((claim) => podsOf(claim, context)),
          ),
        indexes: { [byPool]: (slice) => [poolOf(slice)] },
      }),
    ],
    reconcile: (key, context, signal) => reconcile(key, { context, scheduled }, signal),
  }
}

function podsOf(claim: ResourceClaim, context: ControllerContext): string[] {
  return context.informer(resources.pods).byIndex(byClaim, keyOfObject(claim)).map(keyOfObject)
}

function poolsOf({ status }: ResourceClaim): string[] {
  return [...new Set((status?.allocation?.devices?.results ?? []).map(poolKey))]
}

function poolOf({ spec }: ResourceSlice): string {
  return poolKey({ driver: spec.driver, pool: spec.pool.name })
}

async function reconcile(
  key: string,
  { context, scheduled }: { context: ControllerContext; scheduled: Set<string> },
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const pod = context.informer(resources.pods).get(parseKey(key))
  const dueMs = pod && podEvictionMs(pod, context)
  if (pod === undefined || dueMs === undefined) {
    if (scheduled.delete(key)) tell(key, 'Cancelling deletion', context)
    return
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    scheduled.delete(key)
    return
  }
  const leftMs = dueMs - context.clock.now()
  if (leftMs > 0) {
    scheduled.add(key)
    return { requeueAfterMs: leftMs }
  }
  await evict(pod, context, signal)
  scheduled.delete(key)
}

/** Returns the earliest time of all claims that are reserved for the pod, which must be on a node. */
function podEvictionMs(pod: Pod, context: ControllerContext): number | undefined {
  if ((pod.spec?.nodeName ?? '') === '') return undefined
  const timesMs = (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const found = claimNameOf(pod, entry)
    if (found.state !== 'named') return []
    const place = { namespace: pod.metadata.namespace, name: found.name }
    const claim = context.informer(resources.resourceClaims).get(place)
    if (claim === undefined || (found.isGenerated && !isControlledBy(claim, pod))) return []
    const isReserved = claim.status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid)
    if (isReserved !== true) return []
    const slices = context.informer(resources.resourceSlices)
    return evictionMs(claim, (pool) => slices.byIndex(byPool, poolKey(pool))) ?? []
  })
  return timesMs.length === 0 ? undefined : Math.min(...timesMs)
}

/** The pod may be gone; the event only needs its name. */
function tell(key: string, message: string, context: ControllerContext): void {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...parseKey(key) } }
  context.events.event(pod, { type: 'Normal', reason: 'DeviceTaintManagerEviction', message })
}

async function evict(pod: Pod, context: ControllerContext, signal: AbortSignal): Promise<void> {
  tell(keyOfObject(pod), 'Marking for deletion', context)
  const { namespace, name = '', uid } = pod.metadata
  const text = {
    reason: 'DeletionByDeviceTaintManager' as const,
    message: 'Device Taint manager: deleting due to NoExecute taint',
    nowMs: context.clock.now(),
  }
  const pods = context.client(resources.pods)
  await markDisrupted(pod, text, pods, signal)
  await ignoreNotFound(pods.delete({ namespace, name, preconditions: { uid } }, signal))
}
