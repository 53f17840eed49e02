import type { DaemonSet, DaemonSetStatus, Node, Pod } from '@skerry/api'
import { scaledCount } from '../rollout/int-or-percent.ts'
import { isPodAvailable, isPodReady } from '../pods/pod-state.ts'
import { isUpdated, nodeOfPod } from './daemon-pods.ts'
import { fitOf, type NodeFit } from './node-fit.ts'
import { planRollingUpdate } from './rolling-update.ts'

export interface DaemonSetView {
  set: DaemonSet
  nodes: readonly Node[]
  /** The pods that it controls. */
  pods: readonly Pod[]
  /** The value of the label that marks pods of the newest template. */
  hash: string
  /** Returns true while the last failed pod of this node is too recent to be replaced. */
  isInBackoff: (node: string) => boolean
  nowMs: number
}

export interface DaemonSetPlan {
  /** The nodes that get a pod. */
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
  /** The removed pods that ended by themselves. Each counts as a failure on its `node`. */
  readonly ended: readonly { pod: Pod; node: string }[]
}

/** One node, whether pods belong there, and its pods, the best first. */
export interface NodePods {
  readonly name: string
  readonly fit: NodeFit
  readonly pods: readonly Pod[]
}

/**
 * Plans the next steps. A pure function. First each node gets the pods it needs; a later look rolls
 * out updates.
 */
export function planDaemonSet(view: DaemonSetView): DaemonSetPlan {
  const { set } = view
  if (set.metadata.deletionTimestamp) return { create: [], remove: [], ended: [] }
  const placed = placePods(view)
  const parts = placed.map((node) => planNode(view, node))
  const homeless = homelessPods(view)
  const plan = {
    create: parts.flatMap(({ create }) => create),
    remove: [...parts.flatMap(({ remove }) => remove), ...homeless],
    ended: parts.flatMap(({ ended }) => ended),
  }
  const isSettled = plan.create.length + plan.remove.length === 0
  if (!isSettled || set.spec?.updateStrategy?.type === 'OnDelete') return plan
  const update = planRollingUpdate({ ...view, placed, ...fenceposts(view, placed) })
  return { ...update, ended: [] }
}

function placePods({ set, nodes, pods }: DaemonSetView): NodePods[] {
  const byNode = Map.groupBy(pods, (pod) => nodeOfPod(pod) ?? '')
  return nodes.map((node) => {
    const name = node.metadata.name ?? ''
    const here = (byNode.get(name) ?? []).toSorted(bestFirst)
    return { name, fit: fitOf(set, node), pods: here }
  })
}

function fenceposts(
  { set }: DaemonSetView,
  placed: readonly NodePods[],
): { maxSurge: number; maxUnavailable: number } {
  const total = placed.filter(({ fit }) => fit.shouldRun).length
  const rolling = set.spec?.updateStrategy?.rollingUpdate ?? {}
  const maxSurge = scaledCount(rolling.maxSurge, { total, rounding: 'up' })
  const unavailable = scaledCount(rolling.maxUnavailable, { total, rounding: 'up' })
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : unavailable
  return { maxSurge, maxUnavailable }
}

/** Returns the unscheduled pods whose node is gone; they can never be placed. */
function homelessPods({ nodes, pods }: DaemonSetView): Pod[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name))
  return pods.filter((pod) => {
    if (pod.spec?.nodeName || pod.metadata.deletionTimestamp) return false
    const node = nodeOfPod(pod)
    return node !== undefined && !names.has(node)
  })
}

const nothing: DaemonSetPlan = Object.freeze({ create: [], remove: [], ended: [] })

function planNode(view: DaemonSetView, node: NodePods): DaemonSetPlan {
  const { shouldRun, shouldStay } = node.fit
  if (node.pods.length === 0) return shouldRun ? { ...nothing, create: [node.name] } : nothing
  const present = node.pods.filter((pod) => !pod.metadata.deletionTimestamp)
  if (!shouldStay) return { ...nothing, remove: present }
  const ended = present.filter(
    (pod) =>
      pod.status?.phase === 'Succeeded' ||
      (pod.status?.phase === 'Failed' && !view.isInBackoff(node.name)),
  )
  const running = present.filter(
    ({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  )
  const surplus = surplusPods(view, running)
  const needsPod = allowsSurge(view.set) && running.length === 0 && shouldRun
  return {
    create: needsPod ? [node.name] : [],
    remove: [...ended, ...surplus],
    ended: ended.map((pod) => ({ pod, node: node.name })),
  }
}

/**
 * Allows one pod per node; with surge, also one of the new template next to one of the old until
 * the new one is available.
 */
function surplusPods(view: DaemonSetView, running: readonly Pod[]): readonly Pod[] {
  const { set, hash, nowMs } = view
  if (!allowsSurge(set)) return running.slice(1)
  const updated = running.filter((pod) => isUpdated(set, pod, hash))
  const outdated = running.filter((pod) => !isUpdated(set, pod, hash))
  const surplus = [...updated.slice(1), ...outdated.slice(1)]
  const [newPod] = updated
  const [oldPod] = outdated
  if (!newPod || !oldPod) return surplus
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const isReplaced = !isPodReady(oldPod) || isPodAvailable(newPod, minReadySeconds, nowMs)
  return isReplaced ? [...surplus, oldPod] : surplus
}

function allowsSurge(set: DaemonSet): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const surge = rollingUpdate?.maxSurge
  return type !== 'OnDelete' && surge !== undefined && surge !== 0 && surge !== '0%'
}

/** Sorts scheduled pods before pending ones, then the oldest first. */
function bestFirst(first: Pod, second: Pod): number {
  const byScheduling = Number(!first.spec?.nodeName) - Number(!second.spec?.nodeName)
  if (byScheduling !== 0) return byScheduling
  const a = `${first.metadata.creationTimestamp ?? ''} ${first.metadata.name}`
  const b = `${second.metadata.creationTimestamp ?? ''} ${second.metadata.name}`
  return a < b ? -1 : 1
}

export function daemonSetStatus(
  view: DaemonSetView,
  collisionCount: number | undefined,
): DaemonSetStatus {
  const { set, hash, nowMs } = view
  const placed = placePods(view)
  const wanted = placed.filter(({ fit }) => fit.shouldRun)
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const first = wanted.flatMap(({ pods }) => pods[0] ?? [])
  const available = first.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length
  const misscheduled = placed.filter(({ fit, pods }) => !fit.shouldRun && pods.length > 0)
  return {
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: first.length,
    numberMisscheduled: misscheduled.length,
    numberReady: first.filter(isPodReady).length,
    updatedNumberScheduled: first.filter((pod) => isUpdated(set, pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    observedGeneration: set.metadata.generation ?? 0,
    ...(collisionCount === undefined ? {} : { collisionCount }),
  }
}
