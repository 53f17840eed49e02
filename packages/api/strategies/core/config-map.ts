import type { ConfigMap } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const configMapStrategy = strategyOf<ConfigMap>({
  hasGeneration: false,
})
