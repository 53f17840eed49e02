import type { PodDisruptionBudget } from '@skerry/api'

export interface BudgetInput {
  budget: PodDisruptionBudget
  /** Ready pods that no eviction is on its way for. */
  healthy: number
  podCount: number
  /** Replicas that the pods' controllers want in all. */
  wantedByControllers: number
}

export interface BudgetPlan {
  disruptionsAllowed: number
  currentHealthy: number
  desiredHealthy: number
  expectedPods: number
}

/** policy/v1: minAvailable as a number counts pods that are there; percentages and maxUnavailable count wanted ones. */
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
