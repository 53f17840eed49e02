import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  type ResourceQuota,
} from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from './resource-quota-validation.ts'

export const resourceQuotaStrategy = strategyOf<ResourceQuota>({
  // Upstream does not warn on updates.
  warnings(next, old) {
    return old ? [] : warningsOfHardAmounts(next.spec?.hard)
  },
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

/** Requests above limits can never be used up. */
function warningsOfHardAmounts(hard: Readonly<Record<string, string>> = {}): string[] {
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const isBare = !(`requests.${name}` in hard) && (name === 'cpu' || name === 'memory')
    const requestName = isBare ? name : `requests.${name}`
    const limitName = `limits.${name}`
    const request = hard[requestName]
    const limit = hard[limitName]
    if (request === undefined || limit === undefined) return []
    if (compareQuantities(parseQuantity(request), parseQuantity(limit)) <= 0) return []
    const less = `${requestName} (${canonicalQuantity(request)}) should be less than`
    return [`ResourceQuota ${less} ${limitName} (${canonicalQuantity(limit)})`]
  })
}
