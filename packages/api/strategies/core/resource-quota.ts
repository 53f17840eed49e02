import type { ResourceQuota } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from './resource-quota-validation.ts'

export const resourceQuotaStrategy = strategyOf<ResourceQuota>({
  validate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
  validateStatusUpdate: validateResourceQuotaStatus,
  ...statusApart,
  hasGeneration: false,
  defaults(quota) {
    quota.spec ??= {}
    quota.status ??= {}
  },
})
