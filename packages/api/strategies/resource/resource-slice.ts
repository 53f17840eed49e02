import type { Device, ResourceSlice } from '../../generated/types.ts'
import { strategyOf, type Loose } from '../typed-strategy.ts'
import { quoteGo } from '../../field-error.ts'
import { validateResourceSlice, validateResourceSliceUpdate } from './slice-validation.ts'

export const resourceSliceStrategy = strategyOf<ResourceSlice>({
  validate: validateResourceSlice,
  validateUpdate: validateResourceSliceUpdate,
  warnings({ spec: { driver = '' } = {} }) {
    if (driver === driver.toLowerCase()) return []
    const what = 'driver names should be lowercase'
    return [`spec.driver: ${what}; ${quoteGo(driver)} contains uppercase characters`]
  },
  hasGeneration: true,
  defaults(slice) {
    if (slice.spec?.pool) slice.spec.pool.generation ??= 0
    for (const device of slice.spec?.devices ?? []) {
      const { nodeAllocatableResourceMappings = {} } = fieldsOf(device)
      const mappings = Object.values(nodeAllocatableResourceMappings)
      for (const mapping of mappings) mapping.allocationMultiplier ??= '1'
    }
  },
})

/** v1beta1 has a device's fields one level deeper. */
function fieldsOf(device: Loose<Device> & { basic?: Loose<Device> }): Loose<Device> {
  return device.basic ?? device
}
