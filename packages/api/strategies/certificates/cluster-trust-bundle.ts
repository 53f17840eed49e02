import type { ClusterTrustBundle } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const clusterTrustBundleStrategy = strategyOf<ClusterTrustBundle>({
  hasGeneration: false,
  allowUnconditionalUpdate: false,
})
