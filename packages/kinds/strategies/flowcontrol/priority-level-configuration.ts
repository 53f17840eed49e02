import type { PriorityLevelConfiguration } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validatePriorityLevel } from './priority-level-validation.ts'

export const priorityLevelConfigurationStrategy = strategyOf<PriorityLevelConfiguration>({
  validate: validatePriorityLevel,
  validateUpdate: validatePriorityLevel,
  ...statusApart,
  hasGeneration: true,
  defaults: applyPriorityLevelDefaults,
})

function applyPriorityLevelDefaults(level: LooseObject<PriorityLevelConfiguration>): void {
  const { exempt, limited } = (level.spec ??= {})
  level.status ??= {}
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
  if (!limited) return
  limited.nominalConcurrencyShares ??= 30
  limited.lendablePercent ??= 0
  limited.limitResponse ??= {}
  const { queuing } = limited.limitResponse
  if (!queuing) return
  queuing.handSize ||= 8
  queuing.queues ||= 64
  queuing.queueLengthLimit ||= 50
}
