import type { Service } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyServiceDefaults } from './service-defaults.ts'
import { dropFieldsOfOldType } from './service-type-change.ts'

export const serviceStrategy = strategyOf<Service>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'dns-label',
  defaults: applyServiceDefaults,
  prepareForCreate(next) {
    next.status = { loadBalancer: {} }
  },
  prepareForUpdate(next, old) {
    statusApart.prepareForUpdate(next, old)
    dropFieldsOfOldType(next, old)
  },
  prepareForStatusUpdate: statusApart.prepareForStatusUpdate,
})
