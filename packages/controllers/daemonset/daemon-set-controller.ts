import {
  labelSelectorOf,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type Pod,
} from '@skerry/api'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  byControllerUid,
  claimOwned,
  controllerOf,
  controllerUidIndex,
  runController,
  watch,
  type BackgroundController,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import {
  controllerRevisionHashLabel,
  daemonSetRevisions,
  sortRevisions,
} from '../history/controller-revisions.ts'
import { claimRevisions, writeRevision } from '../history/write-revisions.ts'
import { createInBatches, createPod, deletePod } from '../pods/pod-actions.ts'
import { canonicalText } from '../pods/pod-template.ts'
import { nextAvailabilityMs } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { daemonPod } from './daemon-pods.ts'
import { daemonSetStatus, planDaemonSet, type DaemonSetPlan } from './daemon-set-plan.ts'
import { FailedPodBackoff } from './failed-pod-backoff.ts'
import { fitOf } from './node-fit.ts'
import { controllerBounds } from '../limits-table.ts'

const name = 'daemonset-controller'
const { burstMax } = controllerBounds.daemonSetController

/** Runs a pod on each suitable node. */
export const daemonSetController: BackgroundController = {
  name,
  run: (deps, signal) => runController(createDefinition(), deps, signal),
}

function createDefinition(): ControllerDefinition {
  const backoff = new FailedPodBackoff()
  return {
    name,
    watches: [
      watch(resources.daemonSets, { keysOf: ({ object }) => [keyOfObject(object)] }),
      watch(resources.pods, {
        keysOf: daemonSetsOfPod,
        indexes: { [byControllerUid]: controllerUidIndex },
      }),
      watch(resources.nodes, { keysOf: daemonSetsOfNode }),
      watch(resources.controllerRevisions, {
        keysOf: () => [],
        indexes: { [byControllerUid]: controllerUidIndex },
      }),
    ],
    reconcile: (key, context, signal) => reconcile({ key, backoff }, context, signal),
  }
}

function daemonSetsOfPod(change: Change<Pod>, context: ControllerContext): readonly string[] {
  const keys = new Set<string>()
  for (const pod of [change.old, change.object]) {
    const owner = pod && controllerOf(pod)
    if (owner?.kind === 'DaemonSet') keys.add(`${change.object.metadata.namespace}/${owner.name}`)
  }
  const { object } = change
  if (change.type === 'deleted' || controllerOf(object)) return [...keys]
  for (const set of context.informer(resources.daemonSets).list(object.metadata.namespace)) {
    if (labelSelectorOf(set.spec?.selector).matches(object.metadata.labels)) {
      keys.add(keyOfObject(set))
    }
  }
  return [...keys]
}

/** Nodes write their status all the time; only changes that affect placement matter. */
function daemonSetsOfNode(change: Change<Node>, context: ControllerContext): readonly string[] {
  const { old, object } = change
  const placing = (node: Node): string =>
    canonicalText([node.metadata.labels ?? {}, node.spec?.taints ?? []])
  if (old && placing(old) === placing(object)) return []
  return context
    .informer(resources.daemonSets)
    .list()
    .filter((set) => {
      const before = old && fitOf(set, old)
      const after = fitOf(set, object)
      return before?.shouldRun !== after.shouldRun || before.shouldStay !== after.shouldStay
    })
    .map(keyOfObject)
}

interface Look {
  key: string
  backoff: FailedPodBackoff
}

async function reconcile(
  { key, backoff }: Look,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const set = context.informer(resources.daemonSets).get(parseKey(key))
  if (!set || set.metadata.deletionTimestamp) return
  if (labelSelectorOf(set.spec?.selector).isEmpty) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
    return context.events.event(set, { type: 'Warning', reason: 'SelectingAll', message })
  }
  const { revision, collisionCount } = await syncRevision(set, context, signal)
  const pods = await claimPods(set, context, signal)
  const nowMs = context.clock.now()
  const monotonicMs = context.clock.monotonicMs()
  const view = {
    set,
    nodes: context.informer(resources.nodes).list(),
    pods,
    hash: revision.metadata.labels?.[controllerRevisionHashLabel] ?? '',
    isInBackoff: (node: string) => backoff.remainingMs(`${key}/${node}`, monotonicMs) > 0,
    nowMs,
  }
  const plan = planDaemonSet(view)
  for (const { pod, node } of plan.ended) {
    if (pod.status?.phase === 'Failed') backoff.onFailure(`${key}/${node}`, monotonicMs)
    reportEnded(set, pod, context)
  }
  try {
    await act({ set, plan, hash: view.hash }, context, signal)
  } finally {
    const status = daemonSetStatus(view, collisionCount)
    if (!sameStatus(set.status, status)) {
      await context.client(resources.daemonSets).updateStatus({ ...set, status }, signal)
    }
  }
  await truncateHistory({ set, pods, current: revision }, context, signal)
  return nextLook([
    nextAvailabilityMs(pods, set.spec?.minReadySeconds ?? 0, nowMs),
    ...view.nodes.map((node) => backoff.remainingMs(`${key}/${node.metadata.name}`, monotonicMs)),
  ])
}

function nextLook(timesMs: readonly (number | undefined)[]): ReconcileResult | undefined {
  const due = timesMs.filter((ms) => ms !== undefined && ms > 0)
  return due.length === 0 ? undefined : { requeueAfterMs: Math.min(...due.map(Number)) }
}

async function syncRevision(set: DaemonSet, context: ControllerContext, signal: AbortSignal) {
  const owners = context.cluster.resource(resources.daemonSets)
  const selector = labelSelectorOf(set.spec?.selector)
  const revisions = await claimRevisions({ owner: set, owners, selector }, context, signal)
  const template = set.spec?.template ?? {}
  const { collisionCount } = set.status ?? {}
  const wanted = { owner: set, template, collisionCount, naming: daemonSetRevisions }
  return writeRevision(wanted, revisions, context, signal)
}

async function claimPods(
  set: DaemonSet,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pod[]> {
  const claim = {
    owner: set,
    owners: context.cluster.resource(resources.daemonSets),
    selector: labelSelectorOf(set.spec?.selector),
    resource: resources.pods,
  }
  return claimOwned(claim, context, signal)
}

function reportEnded(set: DaemonSet, pod: Pod, context: ControllerContext): void {
  const { namespace, name: podName } = pod.metadata
  const node = pod.spec?.nodeName
  const isFailed = pod.status?.phase === 'Failed'
  context.events.event(set, {
    type: isFailed ? 'Warning' : 'Normal',
    reason: isFailed ? 'FailedDaemonPod' : 'SucceededDaemonPod',
    message: isFailed
      ? `Found failed daemon pod ${namespace}/${podName} on node ${node}, will try to kill it`
      : `Found succeeded daemon pod ${namespace}/${podName} on node ${node}, will try to delete it`,
  })
}

async function act(
  { set, plan, hash }: { set: DaemonSet; plan: DaemonSetPlan; hash: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const nodes = plan.create.slice(0, burstMax)
  const remaining = nodes.values()
  await createInBatches(nodes.length, () => {
    const pod = daemonPod(set, remaining.next().value ?? '', hash)
    return createPod({ context, owner: set, pod }, signal)
  })
  const removals = plan.remove
    .slice(0, burstMax)
    .map((pod) => deletePod({ context, owner: set, pod }, signal))
  const results = await Promise.allSettled(removals)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Keeps revisions that pods still run, even beyond the limit. */
async function truncateHistory(
  { set, pods, current }: { set: DaemonSet; pods: readonly Pod[]; current: ControllerRevision },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const informer = context.informer(resources.controllerRevisions)
  const old = sortRevisions(informer.byIndex(byControllerUid, set.metadata.uid ?? '')).filter(
    ({ metadata }) => metadata.uid !== current.metadata.uid,
  )
  const surplus = Math.max(0, old.length - (set.spec?.revisionHistoryLimit ?? 10))
  const live = new Set(pods.map((pod) => pod.metadata.labels?.[controllerRevisionHashLabel]))
  const removable = old.filter(
    ({ metadata }) => !live.has(metadata.labels?.[controllerRevisionHashLabel]),
  )
  for (const revision of removable.slice(0, surplus)) {
    const client = context.client(resources.controllerRevisions)
    await ignoreNotFound(client.delete(parseKey(keyOfObject(revision)), signal))
  }
}
