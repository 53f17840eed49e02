import type { Service } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { alignClusterIps, keepAllocated } from './service-cluster-ips.ts'
import { applyServiceDefaults } from './service-defaults.ts'
import { dropFieldsOfOldType } from './service-type-change.ts'
import {
  validateService,
  validateServiceStatus,
  validateServiceUpdate,
} from './service-validation.ts'
import { warningsOfService } from './service-warnings.ts'

export const serviceStrategy = strategyOf<Service>({
  warnings: warningsOfService,
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  validateStatusUpdate: validateServiceStatus,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'dns-label',
  defaults: applyServiceDefaults,
  prepareForCreate(next) {
    next.status = { loadBalancer: {} }
    alignClusterIps((next.spec ??= {}))
  },
  prepareForUpdate(next, old) {
    statusApart.prepareForUpdate(next, old)
    keepAllocated(next, old)
    alignClusterIps((next.spec ??= {}), old.spec ?? {})
    dropFieldsOfOldType(next, old)
  },
  prepareForStatusUpdate: statusApart.prepareForStatusUpdate,
})
