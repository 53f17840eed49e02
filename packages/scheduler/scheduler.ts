import { createWakeFlag, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { isStatusError, type Node, type Pod } from '@skerry/api'
import {
  resources,
  type Change,
  type Cluster,
  type EventRecorder,
  type EventSink,
} from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import { selectNodeForClaims } from './bind-volumes.ts'
import { ClusterState } from './cluster-state.ts'
import { defaultPlugins } from './default-plugins.ts'
import { planPlacement } from './plan-placement.ts'
import type { PlacementContext, Snapshot } from './plugin.ts'
import { podInfoOf } from './pod-info.ts'
import { SchedulingQueue, type QueuedPod } from './scheduling-queue.ts'

export interface SchedulerDeps {
  cluster: Cluster
  informers: InformerSet
  events: EventSink
  clock: Clock
  random: Random
  log: Logger
}

/** Pods whose spec.schedulerName is this are ours. */
export const schedulerName = 'default-scheduler'

/** Bindings on their way to the server at one time. */
const bindingsMax = 32

/** Places pods until the signal aborts. The caller runs the informer set and the event sink. */
export async function runScheduler(deps: SchedulerDeps, signal: AbortSignal): Promise<void> {
  const state = new ClusterState()
  const ready = createWakeFlag()
  using queue = new SchedulingQueue(deps.clock, ready.raise)
  using _pods = deps.informers
    .informer(resources.pods)
    .onChange((change) => onPod(change, state, queue))
  using _nodes = deps.informers
    .informer(resources.nodes)
    .onChange((change) => onNode(change, state, queue))
  const wake = (): void => queue.wakeAll()
  using _claims = deps.informers.informer(resources.persistentVolumeClaims).onChange(wake)
  using _volumes = deps.informers.informer(resources.persistentVolumes).onChange(wake)
  using _classes = deps.informers.informer(resources.storageClasses).onChange(wake)
  using _namespaces = deps.informers.informer(resources.namespaces).onChange(() => undefined)
  await deps.informers.whenSynced(signal)
  const recorder = deps.events.recorder({ component: schedulerName })
  await runAll(signal, [(scope) => placeAll({ ...deps, state, queue, ready, recorder }, scope)])
}

function onPod(change: Change<Pod>, state: ClusterState, queue: SchedulingQueue): void {
  const pod = change.object
  const uid = pod.metadata.uid ?? ''
  if (change.type === 'deleted') {
    state.removePod(uid)
    queue.remove(uid)
    queue.wakeAll()
    return
  }
  state.setPod(pod)
  if ((pod.spec?.nodeName ?? '') !== '') {
    queue.remove(uid)
    // A pod that came, went or changed its labels may let another in.
    if (change.type === 'added' || isWorthALook(change.old, pod)) queue.wakeAll()
    return
  }
  if (isOurs(pod)) queue.put(pod, change.type === 'updated' && hasSpecChanged(change.old, pod))
  else queue.remove(uid)
}

function isOurs(pod: Pod): boolean {
  return (
    pod.spec?.schedulerName === schedulerName &&
    pod.metadata.deletionTimestamp === undefined &&
    (pod.spec.schedulingGates ?? []).length === 0
  )
}

function isWorthALook(old: Pod | undefined, pod: Pod): boolean {
  return old?.status?.phase !== pod.status?.phase || old?.metadata.labels !== pod.metadata.labels
}

function hasSpecChanged(old: Pod | undefined, pod: Pod): boolean {
  return (
    old?.metadata.generation !== pod.metadata.generation ||
    old?.metadata.labels !== pod.metadata.labels
  )
}

function onNode(change: Change<Node>, state: ClusterState, queue: SchedulingQueue): void {
  if (change.type === 'deleted') return state.removeNode(change.object.metadata.name ?? '')
  state.setNode(change.object)
  if (change.type === 'added' || hasNodeChanged(change.old, change.object)) queue.wakeAll()
}

/** A node's heartbeat changes its status every minute; only what a pod could need wakes pods. */
function hasNodeChanged(old: Node | undefined, node: Node): boolean {
  const view = (each: Node | undefined): string =>
    JSON.stringify([each?.spec, each?.metadata.labels, each?.status?.allocatable])
  return view(old) !== view(node)
}

interface PlacingDeps extends SchedulerDeps {
  state: ClusterState
  queue: SchedulingQueue
  ready: { wait(signal: AbortSignal): Promise<void> }
  recorder: EventRecorder
}

async function placeAll(deps: PlacingDeps, signal: AbortSignal): Promise<void> {
  const bindings = new Set<Promise<void>>()
  for (;;) {
    const next = deps.queue.take()
    if (next === undefined) {
      await deps.ready.wait(signal)
      continue
    }
    const placed = placeOne(deps, next, signal)
    bindings.add(placed)
    void placed.finally(() => bindings.delete(placed))
    if (bindings.size >= bindingsMax) await Promise.race(bindings)
    else await Promise.resolve()
  }
}

async function placeOne(deps: PlacingDeps, { pod }: QueuedPod, signal: AbortSignal): Promise<void> {
  const info = podInfoOf(pod)
  const context: PlacementContext = { pod: info, snapshot: snapshotOf(deps) }
  const placement = planPlacement(context, defaultPlugins, () => deps.random.next())
  try {
    if (!placement.isPlaced) {
      deps.queue.giveBack(info.uid)
      await reportUnschedulable(deps, pod, { message: placement.message, signal })
      return
    }
    deps.state.assume(info, placement.nodeName)
    const areClaimsBound = await selectNodeForClaims(deps, context, {
      nodeName: placement.nodeName,
      signal,
    })
    if (!areClaimsBound) {
      // The claim's change wakes the pod; its annotation keeps it to this node.
      deps.state.removePod(info.uid)
      deps.queue.giveBack(info.uid)
      return
    }
    await bind(deps, pod, { nodeName: placement.nodeName, signal })
  } catch (error) {
    if (signal.aborted) return
    deps.state.removePod(info.uid)
    if (isStatusError(error, 'NotFound')) return deps.queue.remove(info.uid)
    deps.log.error('Pod not placed, trying again', {
      pod: info.key,
      error: error instanceof Error ? error : null,
    })
    deps.queue.retry(info.uid)
  }
}

function snapshotOf({ state, informers }: PlacingDeps): Snapshot {
  const claims = informers.informer(resources.persistentVolumeClaims)
  const volumes = informers.informer(resources.persistentVolumes)
  const classes = informers.informer(resources.storageClasses)
  const namespaces = informers.informer(resources.namespaces)
  return {
    nodes: state.nodes(),
    node: (name) => state.node(name),
    namespace: (name) => namespaces.get({ name }),
    claim: (namespace, name) => claims.get({ namespace, name }),
    volume: (name) => volumes.get({ name }),
    storageClass: (name) => classes.get({ name }),
    volumes: () => volumes.list(),
  }
}

interface BindTarget {
  nodeName: string
  signal: AbortSignal
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
  deps.recorder.event(pod, {
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
  })
}

/** The event each time; the condition only when it says something new. */
async function reportUnschedulable(
  deps: PlacingDeps,
  pod: Pod,
  { message, signal }: { message: string; signal: AbortSignal },
): Promise<void> {
  deps.recorder.event(pod, { type: 'Warning', reason: 'FailedScheduling', message })
  const { name = '', namespace = '' } = pod.metadata
  const current = deps.informers.informer(resources.pods).get({ namespace, name })
  const old = (current?.status?.conditions ?? []).find((each) => each.type === 'PodScheduled')
  if (old?.status === 'False' && old.message === message) return
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    observedGeneration: pod.metadata.generation,
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : timestamp(deps.clock),
  }
  const patch = { status: { conditions: [condition] } }
  try {
    await deps.informers
      .client(resources.pods)
      .patchStatus({ type: 'strategic', namespace, name, patch }, signal)
  } catch (error) {
    if (signal.aborted || isStatusError(error, 'NotFound')) return
    deps.log.info('Pod condition not written', {
      pod: `${namespace}/${name}`,
      error: error instanceof Error ? error : null,
    })
  }
}

function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
