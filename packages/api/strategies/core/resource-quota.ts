import type { ResourceQuota } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const resourceQuotaStrategy = strategyOf<ResourceQuota>({
  ...statusApart,
  hasGeneration: false,
  defaults(quota) {
    quota.spec ??= {}
    quota.status ??= {}
  },
})
