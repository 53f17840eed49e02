import { isStatusError, type Pod } from '@skerry/api'
import { resources, type EventRecorder } from '@skerry/client'
import { selectNodeForClaims } from './bind-volumes.ts'
import type { ClusterState } from './cluster-state.ts'
import { planPlacement, type NoPlacement } from './plan-placement.ts'
import { planPreemption } from './plan-preemption.ts'
import type { PlacementContext, Snapshot } from './plugin.ts'
import { podInfoOf } from './pod-info.ts'
import { preemptPods } from './preempt-pods.ts'
import type { Profile } from './profile.ts'
import { reportUnschedulable } from './report-unschedulable.ts'
import type { SchedulerDeps } from './scheduler.ts'
import type { SchedulingQueue } from './scheduling-queue.ts'

/** What one try to place a pod works with. */
export interface PlacingDeps extends SchedulerDeps {
  state: ClusterState
  queue: SchedulingQueue
  profile: Profile
  recorder: EventRecorder
  /** Where the next look at the nodes begins, and is told where it ended. */
  rotation: { firstNode: number }
}

/** Places the pod, or makes room for it, or says why neither is possible. Its decision is made at once. */
export async function placePod(deps: PlacingDeps, pod: Pod, signal: AbortSignal): Promise<void> {
  const context: PlacementContext = { pod: podInfoOf(pod), snapshot: snapshotOf(deps) }
  const { uid, key } = context.pod
  const placement = planPlacement(context, deps.profile, {
    random: () => deps.random.next(),
    firstNode: deps.rotation.firstNode,
    nominatedNode: deps.state.nominationOf(uid),
  })
  try {
    if (placement.isPlaced) {
      deps.rotation.firstNode =
        (deps.rotation.firstNode + placement.nodesSeen) % context.snapshot.nodes.length
      await bindTo(deps, context, { nodeName: placement.nodeName, signal })
    } else {
      await makeRoom(deps, context, { placement, signal })
    }
  } catch (error) {
    if (signal.aborted) return
    deps.state.removePod(uid)
    if (isStatusError(error, 'NotFound')) return deps.queue.remove(uid)
    deps.log.error('Pod not placed, trying again', {
      pod: key,
      error: error instanceof Error ? error : null,
    })
    deps.queue.retry(uid)
  }
}

function snapshotOf({ state, informers }: PlacingDeps): Snapshot {
  const claims = informers.informer(resources.persistentVolumeClaims)
  const volumes = informers.informer(resources.persistentVolumes)
  const classes = informers.informer(resources.storageClasses)
  const csiNodes = informers.informer(resources.csiNodes)
  const namespaces = informers.informer(resources.namespaces)
  return {
    nodes: state.nodes(),
    node: (name) => state.node(name),
    nominated: (nodeName) => state.nominatedOn(nodeName),
    namespace: (name) => namespaces.get({ name }),
    claim: (namespace, name) => claims.get({ namespace, name }),
    volume: (name) => volumes.get({ name }),
    storageClass: (name) => classes.get({ name }),
    csiNode: (name) => csiNodes.get({ name }),
    volumes: () => volumes.list(),
  }
}

interface BindTarget {
  nodeName: string
  signal: AbortSignal
}

async function bindTo(
  deps: PlacingDeps,
  context: PlacementContext,
  target: BindTarget,
): Promise<void> {
  const { uid } = context.pod
  deps.state.assume(context.pod, target.nodeName)
  if (await selectNodeForClaims(deps, context, target)) {
    return bind(deps, context.pod.pod, target)
  }
  // The claim's change wakes the pod; its annotation keeps it to this node.
  deps.state.removePod(uid)
  deps.queue.giveBack(uid, new Set(['VolumeBinding']))
}

async function bind(deps: PlacingDeps, pod: Pod, { nodeName, signal }: BindTarget): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  }
  await deps.cluster
    .resource(resources.pods)
    .createSubresource({ namespace, name, subresource: 'binding', body }, signal)
  deps.queue.remove(uid)
  deps.state.denominate(uid)
  deps.recorder.event(pod, {
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
  })
}

interface Refused {
  placement: NoPlacement
  signal: AbortSignal
}

async function makeRoom(
  deps: PlacingDeps,
  context: PlacementContext,
  { placement, signal }: Refused,
): Promise<void> {
  const { uid, pod } = context.pod
  const nominatedNode = deps.state.nominationOf(uid)
  if (!deps.profile.preempts || placement.refusals.size === 0) {
    await reportUnschedulable(deps, pod, { message: placement.message, nominatedNode, signal })
    return deps.queue.giveBack(uid, placement.refusedBy)
  }
  const preemption = planPreemption({
    context,
    profile: deps.profile,
    refusals: placement.refusals,
    budgets: deps.informers.informer(resources.podDisruptionBudgets).list(),
    nominatedNode,
    random: () => deps.random.next(),
  })
  if (preemption.isPossible) {
    deps.state.nominate(context.pod, preemption.nodeName)
    await preemptPods(deps, { pod: context.pod, ...preemption }, signal)
  } else if (preemption.dropsNomination) deps.state.denominate(uid)
  const message = preemption.isPossible
    ? placement.message
    : `${placement.message} ${preemption.message}`
  const told = { message, nominatedNode: deps.state.nominationOf(uid), signal }
  await reportUnschedulable(deps, pod, told)
  deps.queue.giveBack(uid, placement.refusedBy)
}
