import type { Deployment, DeploymentStatus } from '@skerry/api'
import {
  conditionOf,
  progressConditions,
  removeCondition,
  setCondition,
  type Conditions,
} from './deployment-conditions.ts'
import {
  allOf,
  fencepostsOf,
  replicasOf,
  sumOf,
  wantedReplicas,
  type Revisions,
} from './replica-sets.ts'

export interface DeploymentStatusInput {
  deployment: Deployment
  revisions: Revisions
  /** The deployment's conditions, with those that this look has added. */
  conditions: Conditions
  /** False while paused or scaling, when progress is not judged. */
  isRollout: boolean
  nowMs: number
}

export function deploymentStatus(input: DeploymentStatusInput): DeploymentStatus {
  const { deployment, revisions, isRollout, nowMs } = input
  const counts = countReplicas(deployment, revisions)
  const available = availableCondition(input, counts.availableReplicas ?? 0)
  const next: DeploymentStatus = { ...counts, conditions: [...available] }
  if (!isRollout) return next
  const currentName = revisions.current?.metadata.name
  const judged = progressConditions({ deployment, next, currentName, nowMs })
  return { ...next, conditions: [...failureCondition(judged, revisions)] }
}

function countReplicas(deployment: Deployment, revisions: Revisions): DeploymentStatus {
  const all = allOf(revisions)
  const { collisionCount } = deployment.status ?? {}
  const availableReplicas = sumOf(all, ({ status }) => status?.availableReplicas ?? 0)
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sumOf(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: revisions.current?.status?.replicas ?? 0,
    readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas,
    unavailableReplicas: Math.max(0, sumOf(all, replicasOf) - availableReplicas),
    terminatingReplicas: sumOf(all, ({ status }) => status?.terminatingReplicas ?? 0),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  }
}

function availableCondition(
  { deployment, conditions, nowMs }: DeploymentStatusInput,
  available: number,
): Conditions {
  const minimum = wantedReplicas(deployment) - fencepostsOf(deployment).maxUnavailable
  const isEnough = available >= minimum
  return setCondition(
    conditions,
    {
      type: 'Available',
      status: isEnough ? 'True' : 'False',
      reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: isEnough
        ? 'Deployment has minimum availability.'
        : 'Deployment does not have minimum availability.',
    },
    nowMs,
  )
}

/** Returns the failure of the current revision, else of the first old one that has any. */
function failureCondition(conditions: Conditions, { current, old }: Revisions): Conditions {
  const failure = [...(current ? [current] : []), ...old]
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure')
  const others = removeCondition(conditions, 'ReplicaFailure')
  if (!failure) return others
  const known = conditionOf(conditions, 'ReplicaFailure')
  if (known?.status === failure.status && known?.reason === failure.reason) return conditions
  return [...others, { ...failure, lastUpdateTime: failure.lastTransitionTime ?? '' }]
}
