import type { Endpoints } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const endpointsStrategy = strategyOf<Endpoints>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) {
      for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
    }
  },
})
