import type { Deployment, ReplicaSet } from '@skerry/api'
import {
  allOf,
  byAge,
  fencepostsOf,
  isActive,
  isRolling,
  replicasOf,
  sumOf,
  wantedReplicas,
  type Revisions,
  type ScaleStep,
} from './replica-sets.ts'
import { numberAnnotation, annotationNames } from './revision-annotations.ts'

/** Returns true if spec.replicas has changed since the sizes were set. */
export function isScaling(deployment: Deployment, revisions: Revisions): boolean {
  return allOf(revisions)
    .filter(isActive)
    .some((each) => {
      const desired = numberAnnotation(each, annotationNames.desiredReplicas)
      return desired !== undefined && desired !== wantedReplicas(deployment)
    })
}

/**
 * Keeps the proportion of old and new pods when scaling in the middle of a rollout, so that scaling
 * does not speed up a rollout that may be going wrong. Otherwise the one active replica set gets
 * the whole change.
 */
export function planScaling(deployment: Deployment, revisions: Revisions): ScaleStep[] {
  const wanted = wantedReplicas(deployment)
  const active = allOf(revisions).filter(isActive)
  const only = active.length === 1 ? active[0] : undefined
  const newest = revisions.current ?? revisions.old.at(-1)
  const whole = only ?? (active.length === 0 ? newest : undefined)
  if (whole) return replicasOf(whole) === wanted ? [] : [{ replicaSet: whole, replicas: wanted }]
  if (active.length === 0) return []
  if (isSaturated(deployment, revisions.current)) {
    return revisions.old.filter(isActive).map((replicaSet) => ({ replicaSet, replicas: 0 }))
  }
  return isRolling(deployment) ? planProportions(deployment, active) : []
}

function isSaturated(deployment: Deployment, current: ReplicaSet | undefined): boolean {
  if (!current) return false
  const wanted = wantedReplicas(deployment)
  return (
    replicasOf(current) === wanted &&
    numberAnnotation(current, annotationNames.desiredReplicas) === wanted &&
    (current.status?.availableReplicas ?? 0) === wanted
  )
}

function planProportions(deployment: Deployment, active: readonly ReplicaSet[]): ScaleStep[] {
  const wanted = wantedReplicas(deployment)
  const allowed = wanted > 0 ? wanted + fencepostsOf(deployment).maxSurge : 0
  const toAdd = allowed - sumOf(active, replicasOf)
  // Among equals the newest grows first and the oldest shrinks first.
  const ordered = active.toSorted(
    (a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)),
  )
  let added = 0
  const sizes = ordered.map((replicaSet) => {
    const share = toAdd === 0 ? 0 : proportionOf(deployment, replicaSet, toAdd - added)
    added += share
    return { replicaSet, replicas: replicasOf(replicaSet) + share }
  })
  // The largest gets the remainder from rounding.
  return sizes.map(({ replicaSet, replicas }, position) => ({
    replicaSet,
    replicas: position === 0 ? Math.max(0, replicas + toAdd - added) : replicas,
  }))
}

/** Returns the share, limited to what is left to add, or to remove if negative. */
function proportionOf(deployment: Deployment, replicaSet: ReplicaSet, left: number): number {
  if (left === 0) return 0
  const share = shareOf(deployment, replicaSet)
  return left > 0 ? Math.min(share, left) : Math.max(share, left)
}

function shareOf(deployment: Deployment, replicaSet: ReplicaSet): number {
  const size = replicasOf(replicaSet)
  const wanted = wantedReplicas(deployment)
  if (wanted === 0) return -size
  const before =
    numberAnnotation(replicaSet, annotationNames.maxReplicas) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  const after = wanted + fencepostsOf(deployment).maxSurge
  return roundHalfAway((size * after) / before) - size
}

function roundHalfAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value)
}
