import type { LeaseCandidate } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const leaseCandidateStrategy = strategyOf<LeaseCandidate>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
})
