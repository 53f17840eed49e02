import { equalJson } from '@skerry/api'
import { bindingConditions, type BindingStatus, type ResourceBinding } from '@skerry/karmada-kinds'
import { apiTime, withCondition } from '@skerry/fleet-kinds'
import { isRescheduled } from './place-binding.ts'
import type { PlacementResult } from './placement-input.ts'

/**
 * The fields of the status that change; undefined where none does. A result that is absent means that
 * everything may stay. A placement that brings nothing new leaves the time of the last one.
 */
export function placedStatus(
  { metadata, spec, status = {} }: ResourceBinding,
  result: PlacementResult | undefined,
  nowMs: number,
): Partial<BindingStatus> | undefined {
  const generation = metadata.generation ?? 0
  const observed = { schedulerObservedGeneration: generation }
  const isObserved = status.schedulerObservedGeneration === generation
  if (result === undefined) return isObserved ? undefined : observed
  const isPlaced = result.reason === 'Success'
  const condition = {
    type: bindingConditions.scheduled,
    status: isPlaced ? ('True' as const) : ('False' as const),
    reason: result.reason,
    message: result.message,
  }
  const known = status.conditions ?? []
  const conditions = withCondition(known, condition, nowMs)
  const isSame = equalJson(conditions, known)
  if (!isPlaced) return isSame ? undefined : { conditions }
  const { affinityName } = result
  const isNamed = (status.schedulerObservingAffinityName ?? '') === (affinityName ?? '')
  const isAsked = isRescheduled({ spec, status })
  if (isSame && isObserved && isNamed && !isAsked) return undefined
  return {
    ...observed,
    conditions,
    lastScheduledTime: apiTime(nowMs),
    ...(affinityName === undefined ? {} : { schedulerObservingAffinityName: affinityName }),
  }
}
