import { fieldInvalid, type PodDisruptionBudget, type StatusCause } from '@skerry/api'
import { checkCounters, checkOneOf, type Found } from '../checks.ts'
import { checkConditions } from '../conditions.ts'
import { checkAtMostAll, checkIntOrPercent } from '../int-or-percent.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { LooseObject } from '../typed-strategy.ts'

export function validateBudget(budget: LooseObject<PodDisruptionBudget>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = budget
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    }
    const detail = 'minAvailable and maxUnavailable cannot be both set'
    found.push(fieldInvalid('spec', shown, detail))
  }
  for (const name of ['minAvailable', 'maxUnavailable'] as const) {
    checkIntOrPercent(spec[name], `spec.${name}`, found)
    checkAtMostAll(spec[name], `spec.${name}`, found)
  }
  checkLabelSelector(selector, 'spec.selector', found)
  const policies = ['AlwaysAllow', 'IfHealthyBudget']
  checkOneOf(unhealthyPodEvictionPolicy, policies, 'spec.unhealthyPodEvictionPolicy', found)
  return found
}

export function validateBudgetStatus(budget: LooseObject<PodDisruptionBudget>): StatusCause[] {
  const found: Found = []
  checkConditions(budget.status?.conditions ?? [], 'status.conditions', found)
  const counters = [
    'disruptionsAllowed',
    'currentHealthy',
    'desiredHealthy',
    'expectedPods',
  ] as const
  checkCounters(budget.status ?? {}, counters, 'status', found)
  return found
}
