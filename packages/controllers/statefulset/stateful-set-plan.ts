import type { PersistentVolumeClaim, Pod, StatefulSet, StatefulSetStatus } from '@skerry/api'
import { scaledCount } from '../rollout/int-or-percent.ts'
import { isPodAvailable, isPodFinished } from '../pods/pod-state.ts'
import {
  hasIdentity,
  isCreated,
  isInRange,
  isRunningAndReady,
  isTerminating,
  isUnavailable,
  ordinalOf,
  revisionNameOf,
  startOrdinal,
  statefulPod,
  wantedReplicas,
  type Revision,
} from './stateful-pods.ts'
import { claimsOf, hasStaleOwner, planClaimOwners } from './volume-claims.ts'

export interface StatefulSetView {
  set: StatefulSet
  /** The pods that it controls. */
  pods: readonly Pod[]
  /** Returns the claim of this name in its namespace, if it exists. */
  claims: (name: string) => PersistentVolumeClaim | undefined
  current: Revision
  update: Revision
  collisionCount: number
  nowMs: number
}

export type StatefulSetStep =
  /** Create the missing claims first, then the pod. */
  | { readonly type: 'create'; readonly pod: Pod; readonly ordinal: number }
  | { readonly type: 'delete'; readonly pod: Pod }
  /** A pod that cannot start may be waiting for a claim that was deleted. */
  | { readonly type: 'restore-claims'; readonly ordinal: number }
  | { readonly type: 'relabel'; readonly pod: Pod; readonly ordinal: number }
  | { readonly type: 'own-claims'; readonly pod: Pod; readonly ordinal: number }

export interface StatefulSetPlan {
  readonly steps: readonly StatefulSetStep[]
  readonly status: StatefulSetStatus
}

/**
 * Plans the next steps. A pure function. Pods are handled in order, one at a time, unless the set
 * allows all in parallel.
 */
export function planStatefulSet(view: StatefulSetView): StatefulSetPlan {
  const { set } = view
  const status = statefulSetStatus(view)
  if (set.metadata.deletionTimestamp) return { steps: [], status }
  const replicas = replicasOf(view)
  const condemned = view.pods
    .filter((pod) => ordinalOf(set, pod) >= 0 && !isInRange(set, ordinalOf(set, pod)))
    .toSorted((a, b) => ordinalOf(set, b) - ordinalOf(set, a))
  const steps: StatefulSetStep[] = []
  const isSettled =
    planEach(view, { pods: replicas, plan: planReplica, steps }) &&
    planEach(view, { pods: condemned, plan: planRetention, steps }) &&
    planEach(view, { pods: condemned, plan: condemnedPlanner(view, replicas, condemned), steps })
  if (isSettled) steps.push(...planUpdate(view, replicas))
  return { steps, status }
}

interface Part {
  steps: readonly StatefulSetStep[]
  /** True if an ordered set must not look further this time. */
  mustWait: boolean
}

type PartPlan = (view: StatefulSetView, pod: Pod) => Part

const nothing: Part = Object.freeze({ steps: [], mustWait: false })
const wait: Part = Object.freeze({ steps: [], mustWait: true })

/** Returns false if an ordered set must wait for one of these pods. */
function planEach(
  view: StatefulSetView,
  { pods, plan, steps }: { pods: readonly Pod[]; plan: PartPlan; steps: StatefulSetStep[] },
): boolean {
  for (const pod of pods) {
    const part = plan(view, pod)
    steps.push(...part.steps)
    if (part.mustWait && isOrdered(view.set)) return false
  }
  return true
}

function isOrdered(set: StatefulSet): boolean {
  return set.spec?.podManagementPolicy !== 'Parallel'
}

/** Returns for each ordinal the existing pod, or the one to create. */
function replicasOf(view: StatefulSetView): Pod[] {
  const { set, pods } = view
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]))
  return Array.from({ length: wantedReplicas(set) }, (_, index) => {
    const ordinal = startOrdinal(set) + index
    return byOrdinal.get(ordinal) ?? statefulPod(set, ordinal, revisionFor(view, ordinal))
  })
}

/** Pods below the partition keep the current revision, even if they are created again. */
function revisionFor({ set, current, update }: StatefulSetView, ordinal: number): Revision {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const start = startOrdinal(set)
  if (rollingUpdate) return ordinal < start + (rollingUpdate.partition ?? 0) ? current : update
  const isUntouched = ordinal < start + (set.status?.currentReplicas ?? 0)
  return type === 'RollingUpdate' && isUntouched ? current : update
}

function planReplica(view: StatefulSetView, pod: Pod): Part {
  const { set, nowMs } = view
  const ordinal = ordinalOf(set, pod)
  if (isPodFinished(pod)) {
    return isTerminating(pod) ? wait : { steps: [{ type: 'delete', pod }], mustWait: true }
  }
  if (!isCreated(pod)) {
    if (isClaimStale(view, pod, ordinal)) return wait
    return { steps: [{ type: 'create', pod, ordinal }], mustWait: true }
  }
  const steps: StatefulSetStep[] = []
  if (pod.status?.phase === 'Pending' && isClaimMissing(view, ordinal)) {
    steps.push({ type: 'restore-claims', ordinal })
  }
  const isReady =
    !isTerminating(pod) &&
    isRunningAndReady(pod) &&
    isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
  if (!isReady && isOrdered(set)) return { steps, mustWait: true }
  if (!hasIdentity(pod)) steps.push({ type: 'relabel', pod, ordinal })
  steps.push(...planRetention(view, pod).steps)
  return { steps, mustWait: false }
}

/** A claim that is deleted with the earlier pod of this name must be gone before the next pod comes. */
function isClaimStale({ set, claims }: StatefulSetView, pod: Pod, ordinal: number): boolean {
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false
  return claimsOf(set, ordinal).some(({ metadata }) => {
    const claim = claims(metadata.name ?? '')
    return claim !== undefined && hasStaleOwner(claim, pod)
  })
}

function isClaimMissing({ set, claims }: StatefulSetView, ordinal: number): boolean {
  return claimsOf(set, ordinal).some(({ metadata }) => claims(metadata.name ?? '') === undefined)
}

function planRetention({ set, claims }: StatefulSetView, pod: Pod): Part {
  const ordinal = ordinalOf(set, pod)
  const use = { set, pod, isScaledDown: !isInRange(set, ordinal) }
  const isWrong = claimsOf(set, ordinal).some(({ metadata }) => {
    const claim = claims(metadata.name ?? '')
    return claim !== undefined && planClaimOwners(claim, use) !== undefined
  })
  return isWrong ? { steps: [{ type: 'own-claims', pod, ordinal }], mustWait: false } : nothing
}

/**
 * Handles the highest ordinal first. A broken pod may be deleted before others are healthy if it is
 * the first such.
 */
function condemnedPlanner(
  { set, nowMs }: StatefulSetView,
  replicas: readonly Pod[],
  condemned: readonly Pod[],
): PartPlan {
  const firstUnavailable = [...replicas, ...condemned.toReversed()].find((pod) =>
    isUnavailable(set, pod, nowMs),
  )
  return (_, pod) => {
    if (isTerminating(pod)) return wait
    const isHealthy =
      isRunningAndReady(pod) && isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
    if (!isHealthy && isOrdered(set) && pod !== firstUnavailable) return wait
    return { steps: [{ type: 'delete', pod }], mustWait: true }
  }
}

/** Updates from the highest ordinal down to the partition, waiting for each pod to be available again. */
function planUpdate(view: StatefulSetView, replicas: readonly Pod[]): StatefulSetStep[] {
  const { set, update, nowMs } = view
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const total = wantedReplicas(set)
  const asked = scaledCount(rollingUpdate?.maxUnavailable ?? 1, { total, rounding: 'down' })
  const maxUnavailable = Math.max(1, asked)
  const candidates = replicas.slice(rollingUpdate?.partition ?? 0).toReversed()
  const isOld = (pod: Pod): boolean => revisionNameOf(pod) !== update.name && !isTerminating(pod)
  if (maxUnavailable === 1) {
    const next = candidates.find((pod) => isOld(pod) || isUnavailable(set, pod, nowMs))
    return next && isOld(next) ? [{ type: 'delete', pod: next }] : []
  }
  const unavailable = replicas.filter((pod) => isUnavailable(set, pod, nowMs)).length
  const room = Math.max(0, maxUnavailable - unavailable)
  return candidates
    .filter(isOld)
    .slice(0, room)
    .map((pod) => ({ type: 'delete', pod }))
}

function statefulSetStatus(view: StatefulSetView): StatefulSetStatus {
  const { set, pods, current, update, collisionCount, nowMs } = view
  const created = pods.filter(isCreated)
  const ready = created.filter(isRunningAndReady)
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const ofRevision = (name: string): number =>
    created.filter((pod) => !isTerminating(pod) && revisionNameOf(pod) === name).length
  const status: StatefulSetStatus = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: created.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
    currentReplicas: ofRevision(current.name),
    updatedReplicas: ofRevision(update.name),
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount,
  }
  return completeUpdate(set, status)
}

/** When all replicas have the new revision, it becomes the current one. */
function completeUpdate(set: StatefulSet, status: StatefulSetStatus): StatefulSetStatus {
  const wanted = wantedReplicas(set)
  const isRolling = set.spec?.updateStrategy?.type !== 'OnDelete'
  const isDone = [status.updatedReplicas, status.readyReplicas, status.replicas].every(
    (count) => (count ?? 0) === wanted,
  )
  if (!isRolling || !isDone) return status
  const { updatedReplicas = 0, updateRevision = '' } = status
  return { ...status, currentReplicas: updatedReplicas, currentRevision: updateRevision }
}
