import type { PodCondition, PodStatus } from '@skerry/api'
import { apiTime } from '../contract/status-answers.ts'

export interface ConditionChange {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

/** Sets one condition of a pod. The time of transition changes only with the status. */
export function setPodCondition(status: PodStatus, change: ConditionChange, nowMs: number): void {
  const conditions = status.conditions ?? []
  const old = conditions.find((condition) => condition.type === change.type)
  const isSame = old?.status === change.status
  const next: PodCondition = {
    ...change,
    lastProbeTime: null,
    lastTransitionTime: (isSame && old.lastTransitionTime) || apiTime(nowMs),
  }
  status.conditions = old
    ? conditions.map((condition) => (condition === old ? next : condition))
    : [...conditions, next]
}
