import { asError } from '@skerry/base'
import { isStatusError, type Pod } from '@skerry/api'
import { resources, type EventSeriesRecorder } from '@skerry/client'
import { bindByExtender, planWithExtenders, preemptWithExtenders } from './ask-extenders.ts'
import { selectNodeForClaims } from './bind-volumes.ts'
import { BindingError, asPlugin } from './binding-error.ts'
import type { ClusterState } from './cluster-state.ts'
import { ExtenderError, type Extender } from './extender.ts'
import { planPlacement, type NoPlacement } from './plan-placement.ts'
import { planPreemption } from './plan-preemption.ts'
import type { PlacementContext, Snapshot } from './framework/plugin.ts'
import { podInfoOf, type PodInfo } from './framework/pod-info.ts'
import { preemptPods } from './preempt-pods.ts'
import type { Profile } from './profile.ts'
import { reserveDevices } from './reserve-devices.ts'
import { reportUnschedulable, writeNomination } from './report-unschedulable.ts'
import type { SchedulerDeps } from './scheduler.ts'
import type { SchedulingQueue } from './scheduling-queue.ts'

/** The dependencies of one attempt to place a pod. */
export interface PlacingDeps extends SchedulerDeps {
  state: ClusterState
  queue: SchedulingQueue
  profile: Profile
  extenders: readonly Extender[]
  recorder: EventSeriesRecorder
  /** The node where the next search begins; each search updates it. */
  rotation: { firstNode: number }
}

/** The dependencies of one attempt for one pod. */
export interface PodPlacing extends PlacingDeps {
  /** Called when the pod's node is decided; binding may take longer. */
  onDecided: () => void
}

/** Places the pod, or makes room for it, or reports why neither is possible. The decision is made at once. */
export async function placePod(deps: PodPlacing, pod: Pod, signal: AbortSignal): Promise<void> {
  const context: PlacementContext = { pod: podInfoOf(pod), snapshot: snapshotOf(deps) }
  const { uid, key } = context.pod
  const options = {
    random: () => deps.random.next(),
    firstNode: deps.rotation.firstNode,
    nominatedNode: deps.state.nominationOf(uid),
  }
  try {
    const { extenders, profile } = deps
    const placement =
      extenders.length === 0
        ? planPlacement(context, profile, options)
        : await planWithExtenders(context, profile, { ...options, extenders, signal })
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
    const isTold = error instanceof ExtenderError || error instanceof BindingError
    if (isTold) return tellError(deps, pod, { error, signal })
    deps.log.error('Pod not placed, trying again', {
      pod: key,
      error: asError(error),
    })
    deps.queue.retry(uid)
  }
}

/** Records an extender's or the API server's error on the pod, which is tried again after a while. */
async function tellError(
  deps: PlacingDeps,
  pod: Pod,
  { error, signal }: { error: Error; signal: AbortSignal },
): Promise<void> {
  const uid = pod.metadata.uid ?? ''
  deps.state.denominate(uid)
  const said = { reason: 'SchedulerError', message: error.message, nominatedNode: '' } as const
  await reportUnschedulable(deps, pod, { ...said, signal })
  deps.queue.retry(uid)
}

function snapshotOf({ state, informers }: PlacingDeps): Snapshot {
  const claims = informers.informer(resources.persistentVolumeClaims)
  const volumes = informers.informer(resources.persistentVolumes)
  const classes = informers.informer(resources.storageClasses)
  const csiNodes = informers.informer(resources.csiNodes)
  const namespaces = informers.informer(resources.namespaces)
  const drivers = informers.informer(resources.csiDrivers)
  const capacities = informers.informer(resources.csiStorageCapacities)
  const deviceClaims = informers.informer(resources.resourceClaims)
  const deviceClasses = informers.informer(resources.deviceClasses)
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
    csiDriver: (name) => drivers.get({ name }),
    storageCapacities: () => capacities.list(),
    resourceClaim: (namespace, name) => deviceClaims.get({ namespace, name }),
    deviceClass: (name) => deviceClasses.get({ name }),
  }
}

interface BindTarget {
  nodeName: string
  signal: AbortSignal
}

async function bindTo(
  deps: PodPlacing,
  context: PlacementContext,
  target: BindTarget,
): Promise<void> {
  const { uid } = context.pod
  deps.state.assume(context.pod, target.nodeName)
  deps.onDecided()
  try {
    const isReady = await prepareBinding(deps, context, target)
    if (isReady) return await bind(deps, context.pod, target)
  } catch (error) {
    deps.state.removePod(uid)
    const { pod } = context.pod
    deps.queue.onEvent({ kind: 'pod-removed', pod })
    throw error
  }
  // The claim's change wakes the pod; its annotation and the nomination keep it on this node.
  deps.state.removePod(uid)
  deps.state.nominate(context.pod, target.nodeName)
  await writeNomination(deps, context.pod.pod, target)
  deps.queue.giveBack(uid, new Set(['VolumeBinding']))
}

/** Resolves to false if claims wait for their volumes. */
async function prepareBinding(
  deps: PodPlacing,
  context: PlacementContext,
  target: BindTarget,
): Promise<boolean> {
  const point = 'PreBind'
  const isReady = await asPlugin({ name: 'VolumeBinding', point }, () =>
    selectNodeForClaims(deps, context, target),
  )
  if (!isReady) return false
  await asPlugin({ name: 'DynamicResources', point }, () =>
    reserveDevices(deps, context, target.signal),
  )
  return true
}

async function bind(deps: PlacingDeps, info: PodInfo, target: BindTarget): Promise<void> {
  const { nodeName, signal } = target
  const { pod } = info
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const { extenders } = deps
  const isBound =
    extenders.length > 0 && (await bindByExtender(info, nodeName, { extenders, signal }))
  if (!isBound) {
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    }
    const pods = deps.cluster.resource(resources.pods)
    try {
      await asPlugin({ name: 'DefaultBinder', point: 'Bind' }, () =>
        pods.createSubresource({ namespace, name, subresource: 'binding', body }, signal),
      )
    } catch (error) {
      // The pod was deleted meanwhile, and its room is free.
      if (!(error instanceof BindingError) || !isStatusError(error.cause, 'NotFound')) throw error
      deps.state.removePod(uid)
      deps.queue.onEvent({ kind: 'pod-removed', pod })
      return deps.queue.remove(uid)
    }
  }
  deps.queue.remove(uid)
  deps.state.denominate(uid)
  deps.recorder.event(pod, {
    type: 'Normal',
    reason: 'Scheduled',
    action: 'Binding',
    note: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
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
  const tell = async (message: string, nominated: string): Promise<void> => {
    const reason = 'Unschedulable'
    await reportUnschedulable(deps, pod, { reason, message, nominatedNode: nominated, signal })
    deps.queue.giveBack(uid, placement.refusedBy)
  }
  if (placement.refusals.size === 0) return tell(placement.message, nominatedNode)
  const { deallocates, preempts } = deps.profile
  // Upstream reports this if claims were not even checked, and then preempts no pod.
  if (deallocates && placement.stage === 'before-claims') {
    return tell(`${placement.message} not found`, nominatedNode)
  }
  const hasClaims = (pod.spec?.resourceClaims ?? []).length > 0
  const isTried = hasClaims && placement.stage === 'nodes'
  const words = deallocates
    ? [isTried ? 'still not schedulable' : 'no new claims to deallocate']
    : []
  if (!preempts) return tell([placement.message, ...words].join(' '), nominatedNode)
  const input = {
    context,
    profile: deps.profile,
    refusals: placement.refusals,
    budgets: deps.informers.informer(resources.podDisruptionBudgets).list(),
    nominatedNode,
    random: () => deps.random.next(),
  }
  const { extenders } = deps
  const preemption =
    extenders.length === 0
      ? planPreemption(input)
      : await preemptWithExtenders(input, { extenders, signal })
  if (preemption.isPossible) {
    deps.state.nominate(context.pod, preemption.nodeName)
    await preemptPods(deps, { pod: context.pod, ...preemption }, signal)
  } else if (preemption.dropsNomination) deps.state.denominate(uid)
  const message = preemption.isPossible
    ? placement.message
    : `${placement.message} ${[...(preemption.isError ? [] : words), preemption.message].join(', ')}`
  return tell(message, deps.state.nominationOf(uid))
}
