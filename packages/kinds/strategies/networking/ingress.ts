import type { Ingress } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import {
  validateIngress,
  validateIngressStatus,
  validateIngressUpdate,
} from './ingress-validation.ts'

const classKey = 'kubernetes.io/ingress.class'

export const ingressStrategy = strategyOf<Ingress>({
  warnings({ metadata: { annotations = {} }, spec }, old) {
    if (old || !(classKey in annotations) || spec?.ingressClassName !== undefined) return []
    const instead = "please use 'spec.ingressClassName' instead"
    return [`annotation "${classKey}" is deprecated, ${instead}`]
  },
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
