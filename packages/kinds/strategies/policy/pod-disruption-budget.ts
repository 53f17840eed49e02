import type { PodDisruptionBudget } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validateBudget, validateBudgetStatus } from './pod-disruption-budget-validation.ts'

export const podDisruptionBudgetStrategy = strategyOf<PodDisruptionBudget>({
  validate: validateBudget,
  validateUpdate: validateBudget,
  validateStatusUpdate: validateBudgetStatus,
  ...statusApart,
  allowUnconditionalUpdate: false,
  // Upstream checks the spec of a budget, not its name.
  nameRule: 'path-segment',
  defaults: applyBudgetDefaults,
})

function applyBudgetDefaults(budget: LooseObject<PodDisruptionBudget>): void {
  budget.spec ??= {}
  const status = (budget.status ??= {})
  status.disruptionsAllowed ??= 0
  status.currentHealthy ??= 0
  status.desiredHealthy ??= 0
  status.expectedPods ??= 0
}
