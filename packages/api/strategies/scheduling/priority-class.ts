import type { PriorityClass } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const priorityClassStrategy = strategyOf<PriorityClass>({
  hasGeneration: true,
  defaults(priorityClass) {
    priorityClass.value ??= 0
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority'
  },
})
