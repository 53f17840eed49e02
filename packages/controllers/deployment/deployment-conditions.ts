import type { Deployment, DeploymentCondition, DeploymentStatus } from '@skerry/api'
import { timestamp } from '../status/timestamp.ts'
import { wantedReplicas } from './replica-sets.ts'

export type Conditions = readonly DeploymentCondition[]

interface ConditionText {
  type: 'Available' | 'Progressing' | 'ReplicaFailure'
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
}

export function conditionOf(conditions: Conditions, type: string): DeploymentCondition | undefined {
  return conditions.find((condition) => condition.type === type)
}

/** Changes nothing while status and reason stay; changes the transition time only with the status. */
export function setCondition(
  conditions: Conditions,
  next: ConditionText,
  nowMs: number,
): Conditions {
  const known = conditionOf(conditions, next.type)
  if (known?.status === next.status && known.reason === next.reason) return conditions
  const now = timestamp(nowMs)
  const isSameStatus = known?.status === next.status
  return [
    ...removeCondition(conditions, next.type),
    {
      ...next,
      lastUpdateTime: now,
      lastTransitionTime: isSameStatus ? (known?.lastTransitionTime ?? now) : now,
    },
  ]
}

export function removeCondition(conditions: Conditions, type: string): Conditions {
  return conditions.filter((condition) => condition.type !== type)
}

/** Kubernetes' largest int32 means "no deadline". */
export function progressDeadlineMs(deployment: Deployment): number | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === 2_147_483_647 ? undefined : seconds * 1000
}

/** Pausing and resuming restart the measurement of progress, so that a pause never looks like a failure. */
export function pausedConditions(deployment: Deployment, nowMs: number): Conditions {
  const conditions = deployment.status?.conditions ?? []
  const reason = conditionOf(conditions, 'Progressing')?.reason
  if (progressDeadlineMs(deployment) === undefined || reason === 'ProgressDeadlineExceeded') {
    return conditions
  }
  const isPaused = deployment.spec?.paused === true
  if (isPaused === (reason === 'DeploymentPaused')) return conditions
  return setCondition(
    conditions,
    {
      type: 'Progressing',
      status: 'Unknown',
      reason: isPaused ? 'DeploymentPaused' : 'DeploymentResumed',
      message: isPaused ? 'Deployment is paused' : 'Deployment is resumed',
    },
    nowMs,
  )
}

export interface ProgressInput {
  deployment: Deployment
  /** The status with its conditions before progress is judged. */
  next: DeploymentStatus
  currentName: string | undefined
  nowMs: number
}

/** Judges a rollout in progress: complete, progressing, or stuck past its deadline. */
export function progressConditions(input: ProgressInput): Conditions {
  const { deployment, next, nowMs } = input
  const conditions = next.conditions ?? []
  if (progressDeadlineMs(deployment) === undefined)
    return removeCondition(conditions, 'Progressing')
  const known = conditionOf(conditions, 'Progressing')
  const wasComplete =
    next.replicas === next.updatedReplicas && known?.reason === 'NewReplicaSetAvailable'
  if (wasComplete) return conditions
  if (isComplete(deployment, next)) {
    return setCondition(conditions, progressText(input, 'NewReplicaSetAvailable'), nowMs)
  }
  if (isMoving(deployment.status ?? {}, next)) return moved(input, conditions)
  if (isTimedOut(deployment, known, nowMs)) {
    return setCondition(conditions, progressText(input, 'ProgressDeadlineExceeded'), nowMs)
  }
  return conditions
}

/** Each progress counts from its own time, even if the reason stays the same. */
function moved(input: ProgressInput, conditions: Conditions): Conditions {
  const known = conditionOf(conditions, 'Progressing')
  const text = progressText(input, 'ReplicaSetUpdated')
  const now = timestamp(input.nowMs)
  const since = known?.status === 'True' ? (known.lastTransitionTime ?? now) : now
  return [
    ...removeCondition(conditions, 'Progressing'),
    { ...text, lastUpdateTime: now, lastTransitionTime: since },
  ]
}

const progressWords = Object.freeze({
  NewReplicaSetAvailable: 'has successfully progressed.',
  ReplicaSetUpdated: 'is progressing.',
  ProgressDeadlineExceeded: 'has timed out progressing.',
})

function progressText(
  { deployment, currentName }: ProgressInput,
  reason: keyof typeof progressWords,
): ConditionText {
  const subject = currentName
    ? `ReplicaSet "${currentName}"`
    : `Deployment "${deployment.metadata.name}"`
  return {
    type: 'Progressing',
    status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
    reason,
    message: `${subject} ${progressWords[reason]}`,
  }
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment)
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

function isMoving(before: DeploymentStatus, next: DeploymentStatus): boolean {
  const oldReplicas = (status: DeploymentStatus): number =>
    (status.replicas ?? 0) - (status.updatedReplicas ?? 0)
  return (
    (next.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldReplicas(next) < oldReplicas(before) ||
    (next.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (next.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

function isTimedOut(
  deployment: Deployment,
  known: DeploymentCondition | undefined,
  nowMs: number,
): boolean {
  if (!known || known.reason === 'NewReplicaSetAvailable') return false
  if (known.reason === 'ProgressDeadlineExceeded') return true
  const deadlineMs = progressDeadlineMs(deployment)
  return deadlineMs !== undefined && Date.parse(known.lastUpdateTime ?? '') + deadlineMs < nowMs
}

/** Returns when to check a rollout again that may get stuck. */
export function progressCheckAfterMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  const known = conditionOf(status.conditions ?? [], 'Progressing')
  const deadlineMs = progressDeadlineMs(deployment)
  if (!known || deadlineMs === undefined || known.reason === 'ProgressDeadlineExceeded') {
    return undefined
  }
  if (isComplete(deployment, status)) return undefined
  const afterMs = Date.parse(known.lastUpdateTime ?? '') + deadlineMs - nowMs
  // Timestamps are whole seconds; with one second more the deadline has certainly passed.
  return Math.max(0, afterMs) + 1000
}
