import type { Service, ServiceSpec } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose } from '../typed-strategy.ts'
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
    dropInternalPolicy(next.spec)
  },
  prepareForUpdate(next, old) {
    statusApart.prepareForUpdate(next, old)
    keepAllocated(next, old)
    alignClusterIps((next.spec ??= {}), old.spec ?? {})
    dropFieldsOfOldType(next, old)
    dropInternalPolicy(next.spec)
  },
  prepareForStatusUpdate: statusApart.prepareForStatusUpdate,
})

/** A service without an address in the cluster has no internal traffic to route. */
function dropInternalPolicy(spec: Loose<ServiceSpec>): void {
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy
}
