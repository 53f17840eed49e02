import type { IngressClass } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const ingressClassStrategy = strategyOf<IngressClass>({
  hasGeneration: true,
  defaults(ingressClass) {
    const spec = (ingressClass.spec ??= {})
    if (spec.parameters) spec.parameters.scope ??= 'Cluster'
  },
})
