import type { Deployment, ReplicaSet } from '@skerry/api'
import { scaledCount } from '../rollout/int-or-percent.ts'
import { sameTemplate } from '../pods/pod-template.ts'

/** A deployment's replica sets: the one of its present template, and those of earlier templates. */
export interface Revisions {
  readonly current: ReplicaSet | undefined
  /** The earlier ones, oldest first. */
  readonly old: readonly ReplicaSet[]
}

export interface ScaleStep {
  readonly replicaSet: ReplicaSet
  readonly replicas: number
}

/** If several have the deployment's template, the oldest is the current one, so that the choice is stable. */
export function revisionsOf(deployment: Deployment, owned: readonly ReplicaSet[]): Revisions {
  const oldestFirst = owned.toSorted(byAge)
  const current = oldestFirst.find((each) =>
    sameTemplate(each.spec?.template, deployment.spec?.template),
  )
  return { current, old: oldestFirst.filter((each) => each !== current) }
}

export function allOf({ current, old }: Revisions): readonly ReplicaSet[] {
  return current ? [...old, current] : old
}

export function byAge(first: ReplicaSet, second: ReplicaSet): number {
  const a = first.metadata.creationTimestamp ?? ''
  const b = second.metadata.creationTimestamp ?? ''
  if (a !== b) return a < b ? -1 : 1
  return (first.metadata.name ?? '') < (second.metadata.name ?? '') ? -1 : 1
}

export function replicasOf(replicaSet: ReplicaSet): number {
  return replicaSet.spec?.replicas ?? 1
}

export function isActive(replicaSet: ReplicaSet): boolean {
  return replicasOf(replicaSet) > 0
}

export function wantedReplicas(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1
}

export function isRolling(deployment: Deployment): boolean {
  return deployment.spec?.strategy?.type !== 'Recreate'
}

export function sumOf(
  replicaSets: readonly ReplicaSet[],
  count: (replicaSet: ReplicaSet) => number,
): number {
  return replicaSets.reduce((sum, each) => sum + count(each), 0)
}

export interface Fenceposts {
  /** The number of pods above the wanted number while rolling. */
  readonly maxSurge: number
  /** The number of pods below it. */
  readonly maxUnavailable: number
}

/** Never returns zero for both, because then nothing could move. */
export function fencepostsOf(deployment: Deployment): Fenceposts {
  const total = wantedReplicas(deployment)
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 }
  const rolling = deployment.spec?.strategy?.rollingUpdate ?? {}
  const maxSurge = scaledCount(rolling.maxSurge, { total, rounding: 'up' })
  const unavailable = scaledCount(rolling.maxUnavailable, { total, rounding: 'down' })
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : unavailable
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, total) }
}
