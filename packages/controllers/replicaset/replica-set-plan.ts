import {
  labelSelectorOfMap,
  type Pod,
  type ReplicaSet,
  type ReplicaSetCondition,
  type ReplicaSetStatus,
} from '@skerry/api'
import { timestamp } from '../status/timestamp.ts'
import { inDeletionOrder } from '../pods/deletion-order.ts'
import { isPodAvailable, isPodReady } from '../pods/pod-state.ts'
import { controllerBounds } from '../limits-table.ts'

const { burstReplicas } = controllerBounds.replicaSetPlan

export interface ReplicaPlan {
  readonly create: number
  readonly remove: readonly Pod[]
}

export interface ReplicaSetView {
  replicaSet: ReplicaSet
  /** The active pods of this replica set. */
  active: readonly Pod[]
  /** The active pods of the replica sets with the same owner, including these. */
  related: readonly Pod[]
  nowMs: number
}

/** Plans the next steps. A pure function. */
export function planReplicas({ replicaSet, active, related, nowMs }: ReplicaSetView): ReplicaPlan {
  if (replicaSet.metadata.deletionTimestamp) return { create: 0, remove: [] }
  const missing = wantedReplicas(replicaSet) - active.length
  if (missing >= 0) return { create: Math.min(missing, burstReplicas), remove: [] }
  const surplus = Math.min(-missing, burstReplicas)
  if (surplus === active.length) return { create: 0, remove: active }
  return { create: 0, remove: inDeletionOrder(active, related, nowMs).slice(0, surplus) }
}

function wantedReplicas(replicaSet: ReplicaSet): number {
  return replicaSet.spec?.replicas ?? 1
}

export interface StatusInput {
  replicaSet: ReplicaSet
  active: readonly Pod[]
  terminating: readonly Pod[]
  /** The reason why pods could not be created or deleted this time. */
  failure: string | undefined
  nowMs: number
}

export function replicaSetStatus(input: StatusInput): ReplicaSetStatus {
  const { replicaSet, active, terminating, nowMs } = input
  const template = labelSelectorOfMap(replicaSet.spec?.template?.metadata?.labels ?? {})
  const minReadySeconds = replicaSet.spec?.minReadySeconds ?? 0
  const ready = active.filter(isPodReady)
  const available = ready.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs))
  const { conditions: _, ...before } = replicaSet.status ?? {}
  const conditions = conditionsOf(input)
  return {
    ...before,
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => template.matches(pod.metadata.labels)).length,
    readyReplicas: ready.length,
    availableReplicas: available.length,
    terminatingReplicas: terminating.length,
    observedGeneration: replicaSet.metadata.generation ?? 0,
    ...(conditions.length > 0 ? { conditions } : {}),
  }
}

/** The first failure stays as it is until a look succeeds. */
function conditionsOf({ replicaSet, active, failure, nowMs }: StatusInput): ReplicaSetCondition[] {
  const conditions = replicaSet.status?.conditions ?? []
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure')
  if (failure === undefined) return others
  if (others.length < conditions.length) return conditions
  const difference = active.length - wantedReplicas(replicaSet)
  const reason = difference < 0 ? 'FailedCreate' : difference > 0 ? 'FailedDelete' : ''
  return [
    ...others,
    {
      type: 'ReplicaFailure',
      status: 'True',
      reason,
      message: failure,
      lastTransitionTime: timestamp(nowMs),
    },
  ]
}
