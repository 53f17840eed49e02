import type { Ingress } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'

export const ingressStrategy = strategyOf<Ingress>({
  ...statusApart,
  defaults(ingress) {
    ingress.spec ??= {}
    ingress.status ??= {}
    ingress.status.loadBalancer ??= {}
  },
  prepareForCreate(next) {
    next.status = { loadBalancer: {} }
  },
})
