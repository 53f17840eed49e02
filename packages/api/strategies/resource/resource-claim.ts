import type { ResourceClaim, ResourceClaimTemplate } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyDeviceClaimDefaults } from './device-claim-defaults.ts'
import {
  validateResourceClaim,
  validateResourceClaimTemplate,
  validateResourceClaimTemplateUpdate,
  validateResourceClaimUpdate,
} from './claim-validation.ts'

export const resourceClaimStrategy = strategyOf<ResourceClaim>({
  validate: validateResourceClaim,
  validateUpdate: validateResourceClaimUpdate,
  ...statusApart,
  hasGeneration: false,
  defaults(claim) {
    const spec = (claim.spec ??= {})
    claim.status ??= {}
    spec.devices ??= {}
    applyDeviceClaimDefaults(spec.devices)
  },
})

export const resourceClaimTemplateStrategy = strategyOf<ResourceClaimTemplate>({
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
