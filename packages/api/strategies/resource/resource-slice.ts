import type { ResourceSlice } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const resourceSliceStrategy = strategyOf<ResourceSlice>({
  hasGeneration: true,
  defaults(slice) {
    if (slice.spec?.pool) slice.spec.pool.generation ??= 0
    for (const device of slice.spec?.devices ?? []) {
      const mappings = Object.values(device.nodeAllocatableResourceMappings ?? {})
      for (const mapping of mappings) mapping.allocationMultiplier ??= '1'
    }
  },
})
