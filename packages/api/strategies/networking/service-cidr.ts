import type { ServiceCIDR } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const serviceCidrStrategy = strategyOf<ServiceCIDR>({
  ...statusApart,
  hasGeneration: false,
  defaults(cidr) {
    cidr.spec ??= {}
    cidr.status ??= {}
  },
})
