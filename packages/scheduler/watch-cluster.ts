import type { Node, Pod, ResourceClaim } from '@skerry/api'
import { resources, type Change } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import { isSame, nodeAspects, type ClusterEvent } from './framework/cluster-event.ts'
import type { ClusterState } from './cluster-state.ts'
import { podInfoOf, type Resources } from './framework/pod-info.ts'
import { missingClaim } from './plugins/dynamic-resources.ts'
import type { SchedulingQueue } from './scheduling-queue.ts'

export interface WatchedParts {
  informers: InformerSet
  state: ClusterState
  queue: SchedulingQueue
  /** The schedulerNames of our pods. */
  isOurName: (name: string) => boolean
}

/** Keeps state and queue in sync with the cluster until disposed. */
export function watchCluster(parts: WatchedParts): Disposable {
  const { informers, queue } = parts
  const stack = new DisposableStack()
  const tell = (kind: SimpleKind) => (): void => queue.onEvent({ kind })
  stack.use(informers.informer(resources.pods).onChange((change) => onPod(change, parts)))
  stack.use(informers.informer(resources.nodes).onChange((change) => onNode(change, parts)))
  stack.use(
    informers.informer(resources.persistentVolumeClaims).onChange(({ type, object: claim }) => {
      if (type !== 'deleted') queue.onEvent({ kind: 'claim', claim })
    }),
  )
  stack.use(informers.informer(resources.persistentVolumes).onChange(tell('volume')))
  stack.use(informers.informer(resources.storageClasses).onChange(tell('storage-class')))
  stack.use(informers.informer(resources.csiNodes).onChange(tell('csi-node')))
  stack.use(informers.informer(resources.csiDrivers).onChange(tell('csi-driver')))
  stack.use(informers.informer(resources.csiStorageCapacities).onChange(tell('storage-capacity')))
  stack.use(
    informers.informer(resources.resourceClaims).onChange((change) => onDeviceClaim(change, parts)),
  )
  stack.use(informers.informer(resources.deviceClasses).onChange(tell('device-class')))
  stack.use(informers.informer(resources.namespaces).onChange(tell('namespace')))
  // Budgets are read when a pod needs room; changing one makes no pod schedulable.
  stack.use(informers.informer(resources.podDisruptionBudgets).onChange(() => undefined))
  return stack
}

type SimpleKind = Exclude<
  ClusterEvent['kind'],
  'node-added' | 'node-updated' | 'pod-assigned' | 'pod-removed' | 'claim'
>

function onPod(change: Change<Pod>, parts: WatchedParts): void {
  const { state, queue } = parts
  const pod = change.object
  const uid = pod.metadata.uid ?? ''
  if (change.type === 'deleted') {
    const heldRoom = isAssigned(pod) || state.nominationOf(uid) !== ''
    state.removePod(uid)
    state.denominate(uid)
    queue.remove(uid)
    if (heldRoom) queue.onEvent({ kind: 'pod-removed', pod })
    return
  }
  state.setPod(pod)
  if (isAssigned(pod)) onAssigned(change, parts)
  else onWaiting(change, parts)
}

function isAssigned(pod: Pod): boolean {
  return (pod.spec?.nodeName ?? '') !== ''
}

function onAssigned({ type, old, object: pod }: Change<Pod>, { state, queue }: WatchedParts): void {
  const uid = pod.metadata.uid ?? ''
  state.denominate(uid)
  queue.remove(uid)
  if (hasEnded(pod)) {
    if (old !== undefined && !hasEnded(old)) queue.onEvent({ kind: 'pod-removed', pod })
    return
  }
  const isNew = type === 'added' || old === undefined || !isAssigned(old)
  const aspects = {
    isNew,
    labels: !isNew && !isSame(old?.metadata.labels, pod.metadata.labels),
    scaledDown: !isNew && old !== undefined && asksForLess(old, pod),
  }
  if (aspects.isNew || aspects.labels || aspects.scaledDown) {
    queue.onEvent({ kind: 'pod-assigned', pod, aspects })
  }
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function asksForLess(old: Pod, pod: Pod): boolean {
  if (isSame(old.spec?.containers, pod.spec?.containers) && isSame(old.status, pod.status))
    return false
  const after: Resources = podInfoOf(pod).requests
  return [...podInfoOf(old).requests].some(([name, amount]) => (after.get(name) ?? 0) < amount)
}

function onWaiting({ type, old, object: pod }: Change<Pod>, parts: WatchedParts): void {
  const { state, queue } = parts
  const uid = pod.metadata.uid ?? ''
  if (!isOurs(pod, parts) || hasEnded(pod)) {
    queue.remove(uid)
    state.denominate(uid)
    return
  }
  const info = podInfoOf(pod)
  const named = pod.status?.nominatedNodeName ?? ''
  // A nomination that was just chosen is not in the object yet; a removed one still is.
  const wasTaken = named === '' && (old?.status?.nominatedNodeName ?? '') !== ''
  state.nominate(info, wasTaken ? '' : named === '' ? state.nominationOf(uid) : named)
  queue.put(pod, type === 'updated' && (wasTaken || hasWishesChanged(old, pod)))
}

/** Pods that waited for the claim to exist may be tried now. */
function onDeviceClaim({ object: claim }: Change<ResourceClaim>, parts: WatchedParts): void {
  const { informers, queue } = parts
  for (const pod of informers.informer(resources.pods).list()) {
    const { namespace } = pod.metadata
    if (namespace !== claim.metadata.namespace || isAssigned(pod)) continue
    if (pod.spec?.resourceClaims?.length) onWaiting({ type: 'added', object: pod }, parts)
  }
  queue.onEvent({ kind: 'resource-claim' })
}

function isOurs(pod: Pod, { isOurName, informers }: WatchedParts): boolean {
  const claims = informers.informer(resources.resourceClaims)
  const find = (namespace: string, name: string): ResourceClaim | undefined =>
    claims.get({ namespace, name })
  return (
    isOurName(pod.spec?.schedulerName ?? '') &&
    pod.metadata.deletionTimestamp === undefined &&
    (pod.spec?.schedulingGates ?? []).length === 0 &&
    missingClaim(pod, find) === undefined
  )
}

function hasWishesChanged(old: Pod | undefined, pod: Pod): boolean {
  return (
    old?.metadata.generation !== pod.metadata.generation ||
    !isSame(old?.metadata.labels, pod.metadata.labels) ||
    !isSame(old?.spec, pod.spec)
  )
}

function onNode(change: Change<Node>, { state, queue }: WatchedParts): void {
  const { object: node } = change
  if (change.type === 'deleted') return state.removeNode(node.metadata.name ?? '')
  state.setNode(node)
  if (change.type === 'added') return queue.onEvent({ kind: 'node-added', node })
  const aspects = nodeAspects(change.old, node)
  const { labels, taints, allocatable, features } = aspects
  if (labels || taints || allocatable || features) {
    queue.onEvent({ kind: 'node-updated', node, aspects })
  }
}
