import { loadExpressions } from '../../expressions/expressions.ts'
import type { ResourceClaim, ResourceClaimTemplate } from '@skerry/api'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { validateClaimStatus } from './claim-status-validation.ts'
import { applyDeviceClaimDefaults } from './device-claim-defaults.ts'
import {
  validateResourceClaim,
  validateResourceClaimTemplate,
  validateResourceClaimTemplateUpdate,
  validateResourceClaimUpdate,
} from './claim-validation.ts'

export const resourceClaimStrategy = strategyOf<ResourceClaim>({
  ...statusApart,
  load: loadExpressions,
  validate: validateResourceClaim,
  validateUpdate: validateResourceClaimUpdate,
  prepareForStatusUpdate(next, old) {
    keepField(next, old, 'spec')
    // A claim that is deallocated has no devices any more.
    if (old.status?.allocation && !next.status?.allocation) delete next.status?.devices
  },
  validateStatusUpdate: validateClaimStatus,
  hasGeneration: false,
  defaults(claim) {
    const spec = (claim.spec ??= {})
    claim.status ??= {}
    spec.devices ??= {}
    applyDeviceClaimDefaults(spec.devices)
  },
})

export const resourceClaimTemplateStrategy = strategyOf<ResourceClaimTemplate>({
  load: loadExpressions,
  validate: validateResourceClaimTemplate,
  validateUpdate: validateResourceClaimTemplateUpdate,
  hasGeneration: false,
  defaults(template) {
    const spec = (template.spec ??= {})
    spec.metadata ??= {}
    spec.spec ??= {}
    spec.spec.devices ??= {}
    applyDeviceClaimDefaults(spec.spec.devices)
  },
})
