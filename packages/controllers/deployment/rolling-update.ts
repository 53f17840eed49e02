import type { Deployment, ReplicaSet } from '@skerry/api'
import {
  allOf,
  fencepostsOf,
  isActive,
  replicasOf,
  sumOf,
  wantedReplicas,
  type Revisions,
  type ScaleStep,
} from './replica-sets.ts'

/** Returns the size that surge now allows for the current replica set, even if it is not created yet. */
export function currentSize(deployment: Deployment, revisions: Revisions): number {
  const wanted = wantedReplicas(deployment)
  const size = revisions.current ? replicasOf(revisions.current) : 0
  if (size >= wanted) return wanted
  const total = sumOf(allOf(revisions), replicasOf)
  const room = wanted + fencepostsOf(deployment).maxSurge - total
  return room <= 0 ? size : size + Math.min(room, wanted - size)
}

/** Plans one step of a rolling update: first up, then, in a later look, down. */
export function planRolling(deployment: Deployment, revisions: Revisions): ScaleStep[] {
  const { current } = revisions
  if (!current) return []
  const size = currentSize(deployment, revisions)
  if (size !== replicasOf(current)) return [{ replicaSet: current, replicas: size }]
  return planScaleDown(deployment, current, revisions.old.filter(isActive))
}

/**
 * Removes unavailable old pods first, because they serve nobody; then as many available ones as
 * keep the minimum. Pods of the current revision that are not available yet count as missing, so
 * that a broken new template never uses up the old pods.
 */
function planScaleDown(
  deployment: Deployment,
  current: ReplicaSet,
  old: readonly ReplicaSet[],
): ScaleStep[] {
  const minAvailable = wantedReplicas(deployment) - fencepostsOf(deployment).maxUnavailable
  const unavailableCurrent = replicasOf(current) - availableOf(current)
  const total = sumOf([...old, current], replicasOf)
  const room = total - minAvailable - unavailableCurrent
  if (old.length === 0 || room <= 0) return []

  const sizes = new Map(old.map((each) => [each, replicasOf(each)]))
  take(sizes, room, (each, size) => size - availableOf(each))
  const available = sumOf([...old, current], availableOf)
  take(sizes, available - minAvailable, (_, size) => size)
  return old.flatMap((replicaSet) => {
    const replicas = sizes.get(replicaSet) ?? 0
    return replicas === replicasOf(replicaSet) ? [] : [{ replicaSet, replicas }]
  })
}

/** Takes away at most `count` in total, from the oldest on, and from each at most what `of` returns. */
function take(
  sizes: Map<ReplicaSet, number>,
  count: number,
  of: (replicaSet: ReplicaSet, size: number) => number,
): void {
  let left = count
  for (const [replicaSet, size] of sizes) {
    const taken = Math.max(0, Math.min(left, size, of(replicaSet, size)))
    sizes.set(replicaSet, size - taken)
    left -= taken
  }
}

function availableOf(replicaSet: ReplicaSet): number {
  return replicaSet.status?.availableReplicas ?? 0
}
