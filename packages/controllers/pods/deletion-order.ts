import type { Pod } from '@skerry/api'
import { isPodActive, isPodReady, readySinceMs } from './pod-state.ts'

const phaseOrder: Readonly<Record<string, number>> = Object.freeze({
  Pending: 0,
  Unknown: 1,
  Running: 2,
})

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

/** Returns a negative number if the first is deleted before the second, and zero for no preference. */
type Preference = (first: Ranked, second: Ranked, nowMs: number) => number

interface Ranked {
  pod: Pod
  /** The number of active related pods on the same node. */
  neighbours: number
}

/** Ordered as upstream, most important first, so that the loss is least. */
const preferences: readonly Preference[] = Object.freeze<Preference[]>([
  // Unassigned first.
  (a, b) => Number(!!a.pod.spec?.nodeName) - Number(!!b.pod.spec?.nodeName),
  (a, b) => phaseRank(a.pod) - phaseRank(b.pod),
  (a, b) => Number(isPodReady(a.pod)) - Number(isPodReady(b.pod)),
  (a, b) => deletionCost(a.pod) - deletionCost(b.pod),
  // Crowded nodes first, so that the rest stays spread.
  (a, b) => b.neighbours - a.neighbours,
  (a, b, nowMs) =>
    isPodReady(a.pod) && isPodReady(b.pod)
      ? youngerFirst({ a, b, nowMs }, (pod) => readySinceMs(pod))
      : 0,
  (a, b) => maxRestarts(b.pod) - maxRestarts(a.pod),
  (a, b, nowMs) => youngerFirst({ a, b, nowMs }, createdMs),
])

/** Returns the pods in the order in which a scale-down deletes them. `related` are those of all siblings. */
export function inDeletionOrder(
  pods: readonly Pod[],
  related: readonly Pod[],
  nowMs: number,
): Pod[] {
  const neighbours = new Map<string, number>()
  for (const pod of related) {
    const node = pod.spec?.nodeName ?? ''
    if (isPodActive(pod)) neighbours.set(node, (neighbours.get(node) ?? 0) + 1)
  }
  const ranked = pods.map((pod) => ({
    pod,
    neighbours: neighbours.get(pod.spec?.nodeName ?? '') ?? 0,
  }))
  ranked.sort((a, b) => {
    for (const preference of preferences) {
      const order = preference(a, b, nowMs)
      if (order !== 0) return order
    }
    return 0
  })
  return ranked.map(({ pod }) => pod)
}

function phaseRank(pod: Pod): number {
  return phaseOrder[pod.status?.phase ?? ''] ?? 0
}

function deletionCost(pod: Pod): number {
  const cost = pod.metadata.annotations?.[deletionCostAnnotation] ?? '0'
  return /^[+-]?[0-9]+$/.test(cost) ? Number(cost) : 0
}

function maxRestarts(pod: Pod): number {
  const statuses = pod.status?.containerStatuses ?? []
  return Math.max(0, ...statuses.map((status) => status.restartCount))
}

function createdMs(pod: Pod): number | undefined {
  return pod.metadata.creationTimestamp ? Date.parse(pod.metadata.creationTimestamp) : undefined
}

/**
 * Compares ages by their power of two, and within one by uid: the exact age would always select the
 * newest pods, and those are often the ones that a rollout just spread.
 */
function youngerFirst(
  { a, b, nowMs }: { a: Ranked; b: Ranked; nowMs: number },
  sinceMs: (pod: Pod) => number | undefined,
): number {
  const first = sinceMs(a.pod)
  const second = sinceMs(b.pod)
  if (first === second) return 0
  if (first === undefined) return -1
  if (second === undefined) return 1
  const order = ageRank(nowMs - first) - ageRank(nowMs - second)
  if (order !== 0) return order
  return (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1
}

function ageRank(ageMs: number): number {
  return ageMs > 0 ? Math.floor(Math.log2(ageMs * 1e6)) : -1
}
