import {
  labelSelectorOf,
  type KubeObject,
  type Pod,
  type ReplicaSet,
  type ReplicaSetStatus,
  type ReplicationController,
} from '@skerry/api'
import { messageOf } from '@skerry/base'
import {
  keyOfObject,
  parseKey,
  resources,
  type Change,
  type KnownResource,
  type ObjectKey,
} from '@skerry/client'
import {
  byControllerUid,
  claimOwned,
  controllerOf,
  controllerUidIndex,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { createInBatches, createPod, deletePod, podFromTemplate } from '../pods/pod-actions.ts'
import { isPodActive, isPodTerminating, nextAvailabilityMs } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { planReplicas, replicaSetStatus, type ReplicaPlan } from './replica-set-plan.ts'

/** A kind that keeps a number of pods. Each object is viewed as a ReplicaSet. */
interface ReplicaKind<T extends KubeObject> {
  readonly name: string
  readonly eventComponent: string
  readonly kind: string
  readonly resource: KnownResource<T>
  /** Returns a view with the object's own apiVersion and kind, so that pods name it as their owner. */
  readonly viewOf: (object: T) => ReplicaSet
  /** Returns the object with the status fields that its kind has. */
  readonly withStatus: (object: T, status: ReplicaSetStatus) => T
}

/** Keeps as many pods as each ReplicaSet wants. */
export const replicaSetController: ControllerDefinition = replicaController<ReplicaSet>({
  name: 'replicaset-controller',
  eventComponent: 'replicaset-controller',
  kind: 'ReplicaSet',
  resource: resources.replicaSets,
  viewOf: (replicaSet) => replicaSet,
  withStatus: (replicaSet, status) => ({ ...replicaSet, status }),
})

/** Does the same for ReplicationControllers, whose selector is a plain map of labels. */
export const replicationControllerController: ControllerDefinition =
  replicaController<ReplicationController>({
    name: 'replicationcontroller-controller',
    eventComponent: 'replication-controller',
    kind: 'ReplicationController',
    resource: resources.replicationControllers,
    viewOf: ({ metadata, spec, status, apiVersion, kind }) => ({
      apiVersion: apiVersion ?? 'v1',
      kind: kind ?? 'ReplicationController',
      metadata,
      spec: { ...spec, selector: { matchLabels: spec?.selector ?? {} } },
      ...(status === undefined ? {} : { status }),
    }),
    withStatus: (controller, ofReplicaSet) => {
      const { terminatingReplicas: _, ...status } = ofReplicaSet
      return { ...controller, status }
    },
  })

function replicaController<T extends KubeObject>(kind: ReplicaKind<T>): ControllerDefinition {
  return {
    name: kind.name,
    eventComponent: kind.eventComponent,
    watches: [
      watch(kind.resource, {
        keysOf: ({ object }) => [keyOfObject(object)],
        indexes: { [byControllerUid]: controllerUidIndex },
      }),
      watch(resources.pods, {
        keysOf: (change, context) => setsOfPod(change, kind, context),
        indexes: { [byControllerUid]: controllerUidIndex },
      }),
    ],
    reconcile: (key, context, signal) => reconcile({ key, kind }, context, signal),
  }
}

/** Returns the owners before and after; for an orphan, every replica set that could adopt it. */
function setsOfPod<T extends KubeObject>(
  change: Change<Pod>,
  kind: ReplicaKind<T>,
  context: ControllerContext,
): string[] {
  const keys = new Set<string>()
  for (const pod of [change.old, change.object]) {
    const owner = pod && controllerOf(pod)
    if (owner?.kind === kind.kind) keys.add(`${pod?.metadata.namespace}/${owner.name}`)
  }
  const { object } = change
  if (change.type === 'deleted' || controllerOf(object)) return [...keys]
  for (const each of context.informer(kind.resource).list(object.metadata.namespace)) {
    const selector = labelSelectorOf(kind.viewOf(each).spec?.selector)
    if (selector.matches(object.metadata.labels)) keys.add(keyOfObject(each))
  }
  return [...keys]
}

async function reconcile<T extends KubeObject>(
  { key, kind }: { key: string; kind: ReplicaKind<T> },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const object = context.informer(kind.resource).get(parseKey(key))
  if (!object) return
  const replicaSet = kind.viewOf(object)
  const active = await claimPods({ replicaSet, kind }, context, signal)
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
  await writeStatus({ object, kind, active, owned, failure }, context, signal)
  if (failure !== undefined) throw failure
  const requeueAfterMs = nextAvailabilityMs(active, replicaSet.spec?.minReadySeconds ?? 0, nowMs)
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

function podsOf(replicaSet: ReplicaSet, context: ControllerContext): readonly Pod[] {
  return context.informer(resources.pods).byIndex(byControllerUid, replicaSet.metadata.uid ?? '')
}

async function claimPods<T extends KubeObject>(
  { replicaSet, kind }: { replicaSet: ReplicaSet; kind: ReplicaKind<T> },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pod[]> {
  const claim = {
    owner: replicaSet,
    owners: {
      get: async (at: ObjectKey, scope: AbortSignal) =>
        kind.viewOf(await context.cluster.resource(kind.resource).get(at, scope)),
    },
    selector: labelSelectorOf(replicaSet.spec?.selector),
    resource: resources.pods,
    isCandidate: isPodActive,
  }
  return claimOwned(claim, context, signal)
}

/** Returns the pods of all replica sets with the same owner (the revisions of one deployment). */
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

interface StatusWrite<T extends KubeObject> {
  object: T
  kind: ReplicaKind<T>
  /** The pods as they were when the plan was made. The next look sees the plan's changes. */
  active: readonly Pod[]
  owned: readonly Pod[]
  failure: unknown
}

async function writeStatus<T extends KubeObject>(
  { object, kind, active, owned, failure }: StatusWrite<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const replicaSet = kind.viewOf(object)
  const status = replicaSetStatus({
    replicaSet,
    active,
    terminating: owned.filter(isPodTerminating),
    failure: failure === undefined ? undefined : messageOf(failure),
    nowMs: context.clock.now(),
  })
  const written = kind.withStatus(object, status)
  if (sameStatus(replicaSet.status, kind.viewOf(written).status)) return
  await context.client(kind.resource).updateStatus(written, signal)
}
