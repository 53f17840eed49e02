import type { Lease } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const leaseStrategy = strategyOf<Lease>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  defaults(lease) {
    lease.spec ??= {}
  },
  prepareForCreate(next) {
    // Coordinated election is an alpha that is off: its fields are dropped, not refused.
    delete next.spec?.strategy
    delete next.spec?.preferredHolder
  },
})
