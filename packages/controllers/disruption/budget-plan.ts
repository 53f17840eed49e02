import type { PodDisruptionBudget } from '@skerry/api'

export interface BudgetInput {
  budget: PodDisruptionBudget
  /** The ready pods without a pending eviction. */
  healthy: number
  podCount: number
  /** The number of replicas that the pods' controllers want in total. */
  wantedByControllers: number
}

export interface BudgetPlan {
  disruptionsAllowed: number
  currentHealthy: number
  desiredHealthy: number
  expectedPods: number
}

/**
 * policy/v1: minAvailable as a number counts existing pods; percentages and maxUnavailable count
 * wanted ones.
 */
export function planBudget({
  budget,
  healthy,
  podCount,
  wantedByControllers,
}: BudgetInput): BudgetPlan {
  const { minAvailable, maxUnavailable } = budget.spec ?? {}
  let expectedPods = podCount
  let desiredHealthy = 0
  if (maxUnavailable !== undefined) {
    expectedPods = wantedByControllers
    desiredHealthy = Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods))
  } else if (typeof minAvailable === 'number') {
    desiredHealthy = minAvailable
  } else if (minAvailable !== undefined) {
    expectedPods = wantedByControllers
    desiredHealthy = scaled(minAvailable, expectedPods)
  }
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, healthy - desiredHealthy) : 0
  return { disruptionsAllowed, currentHealthy: healthy, desiredHealthy, expectedPods }
}

/** Percentages round up, as upstream does. */
function scaled(value: number | string, total: number): number {
  if (typeof value === 'number') return value
  return Math.ceil((Number.parseInt(value, 10) * total) / 100)
}
