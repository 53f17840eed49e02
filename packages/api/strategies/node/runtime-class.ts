import type { RuntimeClass } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const runtimeClassStrategy = strategyOf<RuntimeClass>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  defaults(runtimeClass) {
    for (const toleration of runtimeClass.scheduling?.tolerations ?? []) {
      if (toleration.operator === '') delete toleration.operator
    }
  },
})
