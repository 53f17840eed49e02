import { labelSelectorOf, type Pod, type ReplicaSet } from '@skerry/api'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  byControllerUid,
  claimObjects,
  controllerOf,
  controllerUidIndex,
  orphansOf,
  planClaim,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import {
  createInBatches,
  createPod,
  deletePod,
  messageOf,
  podFromTemplate,
} from '../pods/pod-actions.ts'
import { isPodActive, isPodTerminating, nextAvailabilityMs } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { planReplicas, replicaSetStatus, type ReplicaPlan } from './replica-set-plan.ts'

/** Keeps as many pods as each ReplicaSet says. */
export const replicaSetController: ControllerDefinition = {
  name: 'replicaset-controller',
  watches: [
    watch(resources.replicaSets, {
      keysOf: ({ object }) => [keyOfObject(object)],
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
    watch(resources.pods, {
      keysOf: replicaSetsOfPod,
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
  ],
  reconcile,
}

/** The owner before and after; for an orphan every replica set that could adopt it. */
function replicaSetsOfPod(change: Change<Pod>, context: ControllerContext): string[] {
  const keys = new Set<string>()
  for (const pod of [change.old, change.object]) {
    const owner = pod && controllerOf(pod)
    if (owner?.kind === 'ReplicaSet') keys.add(`${pod?.metadata.namespace}/${owner.name}`)
  }
  const { object } = change
  if (change.type === 'deleted' || controllerOf(object)) return [...keys]
  for (const replicaSet of context
    .informer(resources.replicaSets)
    .list(object.metadata.namespace)) {
    const selector = labelSelectorOf(replicaSet.spec?.selector)
    if (selector.matches(object.metadata.labels)) keys.add(keyOfObject(replicaSet))
  }
  return [...keys]
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const replicaSet = context.informer(resources.replicaSets).get(parseKey(key))
  if (!replicaSet) return
  const active = await claimPods(replicaSet, context, signal)
  const nowMs = context.clock.now()
  const related = relatedPods(replicaSet, context)
  const plan = planReplicas({ replicaSet, active, related, nowMs })
  let failure: unknown
  try {
    await act({ replicaSet, plan }, context, signal)
  } catch (error) {
    failure = error
  }
  const owned = podsOf(replicaSet, context)
  await writeStatus({ replicaSet, active, owned, failure }, context, signal)
  if (failure !== undefined) throw failure
  const requeueAfterMs = nextAvailabilityMs(active, replicaSet.spec?.minReadySeconds ?? 0, nowMs)
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

function podsOf(replicaSet: ReplicaSet, context: ControllerContext): readonly Pod[] {
  return context.informer(resources.pods).byIndex(byControllerUid, replicaSet.metadata.uid ?? '')
}

async function claimPods(
  replicaSet: ReplicaSet,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pod[]> {
  const { namespace } = replicaSet.metadata
  const orphans = context.informer(resources.pods).byIndex(byControllerUid, orphansOf(namespace))
  const candidates = [...podsOf(replicaSet, context), ...orphans].filter(isPodActive)
  const plan = planClaim(replicaSet, labelSelectorOf(replicaSet.spec?.selector), candidates)
  const claim = {
    owner: replicaSet,
    owners: context.cluster.resource(resources.replicaSets),
    objects: context.client(resources.pods),
    plan,
  }
  return claimObjects(claim, signal)
}

/** Pods of all replica sets with the same owner (the revisions of one deployment). */
function relatedPods(replicaSet: ReplicaSet, context: ControllerContext): readonly Pod[] {
  const owner = controllerOf(replicaSet)
  if (!owner) return podsOf(replicaSet, context)
  const siblings = context.informer(resources.replicaSets).byIndex(byControllerUid, owner.uid)
  return siblings.flatMap((sibling) => podsOf(sibling, context))
}

async function act(
  { replicaSet, plan }: { replicaSet: ReplicaSet; plan: ReplicaPlan },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  await createInBatches(plan.create, () => {
    const pod = podFromTemplate(replicaSet.spec?.template ?? {}, replicaSet)
    return createPod({ context, owner: replicaSet, pod }, signal)
  })
  const removals = plan.remove.map((pod) => deletePod({ context, owner: replicaSet, pod }, signal))
  const results = await Promise.allSettled(removals)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

interface StatusWrite {
  replicaSet: ReplicaSet
  /** As they were when the plan was made: what the plan changed shows in the next look. */
  active: readonly Pod[]
  owned: readonly Pod[]
  failure: unknown
}

async function writeStatus(
  { replicaSet, active, owned, failure }: StatusWrite,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const status = replicaSetStatus({
    replicaSet,
    active,
    terminating: owned.filter(isPodTerminating),
    failure: failure === undefined ? undefined : messageOf(failure),
    nowMs: context.clock.now(),
  })
  if (sameStatus(replicaSet.status, status)) return
  await context.client(resources.replicaSets).updateStatus({ ...replicaSet, status }, signal)
}
