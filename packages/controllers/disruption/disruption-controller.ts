import { labelSelectorOf, type Pod, type PodDisruptionBudget } from '@skerry/api'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  controllerOf,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { isPodActive, isPodReady } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { timestamp } from '../status/timestamp.ts'
import { planBudget } from './budget-plan.ts'

/** Keeps the status that evictions ask: how many pods may be missed now. */
export const disruptionController: ControllerDefinition = {
  name: 'disruption-controller',
  watches: [
    watch(resources.podDisruptionBudgets, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, { keysOf: budgetsOfPod }),
    watch(resources.replicaSets, {
      keysOf: ({ object }, context) => budgetsOfNamespace(object.metadata.namespace, context),
    }),
    watch(resources.deployments, {
      keysOf: ({ object }, context) => budgetsOfNamespace(object.metadata.namespace, context),
    }),
    watch(resources.statefulSets, {
      keysOf: ({ object }, context) => budgetsOfNamespace(object.metadata.namespace, context),
    }),
  ],
  reconcile,
}

function budgetsOfNamespace(namespace: string | undefined, context: ControllerContext): string[] {
  return context.informer(resources.podDisruptionBudgets).list(namespace).map(keyOfObject)
}

function budgetsOfPod({ object, old }: Change<Pod>, context: ControllerContext): string[] {
  const pods = old === undefined ? [object] : [object, old]
  return context
    .informer(resources.podDisruptionBudgets)
    .list(object.metadata.namespace)
    .filter((budget) => pods.some((pod) => selects(budget, pod)))
    .map(keyOfObject)
}

function selects(budget: PodDisruptionBudget, pod: Pod): boolean {
  return labelSelectorOf(budget.spec?.selector).matches(pod.metadata.labels ?? {})
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const budget = context.informer(resources.podDisruptionBudgets).get(parseKey(key))
  if (budget === undefined) return
  const pods = context
    .informer(resources.pods)
    .list(budget.metadata.namespace)
    .filter((pod) => isPodActive(pod) && selects(budget, pod))
  const disrupted = stillDisrupted(budget, pods, context.clock.now())
  const plan = planBudget({
    budget,
    healthy: pods.filter(
      (pod) => isPodReady(pod) && disrupted[pod.metadata.name ?? ''] === undefined,
    ).length,
    podCount: pods.length,
    wantedByControllers: wantedReplicas(pods, context),
  })
  const known = budget.status?.conditions?.find((each) => each.type === 'DisruptionAllowed')
  const isAllowed = plan.disruptionsAllowed > 0 ? 'True' : 'False'
  const condition = {
    type: 'DisruptionAllowed',
    status: isAllowed,
    reason: plan.disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: budget.metadata.generation,
    lastTransitionTime:
      known?.status === isAllowed ? known.lastTransitionTime : timestamp(context.clock.now()),
  }
  const status = {
    ...plan,
    observedGeneration: budget.metadata.generation,
    disruptedPods: disrupted,
    conditions: [condition],
  }
  if (sameStatus(budget.status, status)) return
  await context.client(resources.podDisruptionBudgets).updateStatus({ ...budget, status }, signal)
}

/** An eviction that did not lead to a deletion within this time is forgotten. */
const disruptedMsMax = 2 * 60_000

function stillDisrupted(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  nowMs: number,
): Record<string, string> {
  const names = new Set(pods.map((pod) => pod.metadata.name))
  return Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, since]) => names.has(name) && nowMs - Date.parse(since) < disruptedMsMax,
    ),
  )
}

/** What the controllers of these pods want in all; each pod without one wants itself. */
function wantedReplicas(pods: readonly Pod[], context: ControllerContext): number {
  const wanted = new Map<string, number>()
  let alone = 0
  for (const pod of pods) {
    const scale = scaleOf(pod, context)
    if (scale === undefined) alone += 1
    else wanted.set(scale.uid, scale.replicas)
  }
  return [...wanted.values()].reduce((sum, count) => sum + count, alone)
}

/** The replicas wanted by whoever scales this pod: of the revisions of a deployment, the deployment. */
function scaleOf(
  pod: Pod,
  context: ControllerContext,
): { uid: string; replicas: number } | undefined {
  const owner = controllerOf(pod)
  if (owner === undefined) return undefined
  const key = { namespace: pod.metadata.namespace, name: owner.name }
  if (owner.kind === 'StatefulSet') {
    return {
      uid: owner.uid,
      replicas: context.informer(resources.statefulSets).get(key)?.spec?.replicas ?? 1,
    }
  }
  if (owner.kind !== 'ReplicaSet') return { uid: owner.uid, replicas: 1 }
  const replicaSet = context.informer(resources.replicaSets).get(key)
  const parent = replicaSet && controllerOf(replicaSet)
  if (parent?.kind !== 'Deployment')
    return { uid: owner.uid, replicas: replicaSet?.spec?.replicas ?? 1 }
  const deployment = context.informer(resources.deployments).get({ ...key, name: parent.name })
  return { uid: parent.uid, replicas: deployment?.spec?.replicas ?? 1 }
}
