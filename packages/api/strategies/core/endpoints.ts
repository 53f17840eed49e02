import type { Endpoints } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'
import { validateEndpoints, validateEndpointsUpdate } from './endpoints-validation.ts'

export const endpointsStrategy = strategyOf<Endpoints>({
  validate: validateEndpoints,
  validateUpdate: validateEndpointsUpdate,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) {
      for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
    }
  },
})
