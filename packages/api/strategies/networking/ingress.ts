import type { Ingress } from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import {
  validateIngress,
  validateIngressStatus,
  validateIngressUpdate,
} from './ingress-validation.ts'

export const ingressStrategy = strategyOf<Ingress>({
  validate: validateIngress,
  validateUpdate: validateIngressUpdate,
  validateStatusUpdate: validateIngressStatus,
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
