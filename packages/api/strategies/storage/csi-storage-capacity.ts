import type { CSIStorageCapacity } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const csiStorageCapacityStrategy = strategyOf<CSIStorageCapacity>({
  hasGeneration: false,
  allowUnconditionalUpdate: false,
})
