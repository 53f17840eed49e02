import type { DaemonSet, Pod } from '@skerry/api'
import { isPodAvailable } from '../pods/pod-state.ts'
import { isUpdated } from './daemon-pods.ts'
import type { NodePods } from './daemon-set-plan.ts'

export interface RollingInput {
  set: DaemonSet
  placed: readonly NodePods[]
  hash: string
  maxSurge: number
  maxUnavailable: number
  nowMs: number
}

export interface RollingPlan {
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
}

/** The pods of one node, one of each template. A node with more than one of either is corrected first. */
interface Pair {
  node: NodePods
  newPod: Pod | undefined
  oldPod: Pod | undefined
  isCrowded: boolean
}

export function planRollingUpdate(input: RollingInput): RollingPlan {
  const pairs = input.placed
    .filter(({ pods }) => pods.length > 0)
    .map((node) => pairOf(input, node))
  return input.maxSurge === 0 ? planReplacing(input, pairs) : planSurging(input, pairs)
}

function pairOf({ set, hash }: RollingInput, node: NodePods): Pair {
  const present = node.pods.filter((pod) => !pod.metadata.deletionTimestamp)
  const updated = present.filter((pod) => isUpdated(set, pod, hash))
  const outdated = present.filter((pod) => !isUpdated(set, pod, hash))
  const isCrowded = updated.length > 1 || outdated.length > 1
  return { node, newPod: updated[0], oldPod: outdated[0], isCrowded }
}

function isAvailable({ set, nowMs }: RollingInput, pod: Pod | undefined): boolean {
  return pod !== undefined && isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
}

/** Removes unavailable old pods at once, and of the others as many as may be unavailable. */
function planReplacing(input: RollingInput, pairs: readonly Pair[]): RollingPlan {
  const broken: Pod[] = []
  const candidates: Pod[] = []
  let unavailable = 0
  for (const { newPod, oldPod, isCrowded } of pairs) {
    if (isCrowded || !newPod === !oldPod) unavailable++
    else if (newPod) unavailable += isAvailable(input, newPod) ? 0 : 1
    else if (oldPod && isAvailable(input, oldPod)) candidates.push(oldPod)
    else if (oldPod) {
      broken.push(oldPod)
      unavailable++
    }
  }
  const room = Math.max(0, input.maxUnavailable - unavailable)
  return { create: [], remove: [...broken, ...candidates.slice(0, room)] }
}

/** Creates new pods next to the old ones, which are removed when the new ones are available. */
function planSurging(input: RollingInput, pairs: readonly Pair[]): RollingPlan {
  const remove: Pod[] = []
  const replaceNow: string[] = []
  const candidates: string[] = []
  const misplaced: Pod[] = []
  let surging = 0
  for (const { node, newPod, oldPod, isCrowded } of pairs) {
    if (isCrowded) surging++
    if (isCrowded || !oldPod) continue
    if (newPod) {
      if (isAvailable(input, newPod)) remove.push(oldPod)
      else surging++
    } else if (!node.fit.shouldRun) {
      if (isAvailable(input, oldPod)) misplaced.push(oldPod)
      else remove.push(oldPod)
    } else if (isAvailable(input, oldPod)) candidates.push(node.name)
    else replaceNow.push(node.name)
  }
  const room = Math.max(0, input.maxSurge - surging)
  const available = pairs.filter(({ newPod, oldPod }) =>
    isAvailable(input, oldPod ?? newPod),
  ).length
  const wanted = input.placed.filter(({ fit }) => fit.shouldRun).length
  const spare = Math.max(0, available - wanted)
  return {
    create: [...replaceNow, ...candidates.slice(0, room)],
    remove: [...remove, ...misplaced.slice(0, spare)],
  }
}
