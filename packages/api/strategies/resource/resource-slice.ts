import type { Device, ResourceSlice } from '../../generated/types.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { quoteGo } from '../../field-error.ts'
import { setTaintTimes } from './taint-time.ts'
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
  prepareForCreate: (next, { nowMs }) => setDeviceTaintTimes(next, nowMs),
  prepareForUpdate: (next, _old, { nowMs }) => setDeviceTaintTimes(next, nowMs),
  defaults(slice) {
    if (slice.spec?.pool) slice.spec.pool.generation ??= 0
    for (const device of slice.spec?.devices ?? []) {
      const { nodeAllocatableResourceMappings = {} } = fieldsOf(device)
      const mappings = Object.values(nodeAllocatableResourceMappings)
      for (const mapping of mappings) mapping.allocationMultiplier ??= '1'
    }
  },
})

function setDeviceTaintTimes({ spec }: LooseObject<ResourceSlice>, nowMs: number): void {
  for (const device of spec?.devices ?? []) setTaintTimes(fieldsOf(device).taints, nowMs)
}

/** v1beta1 has a device's fields one level deeper. */
function fieldsOf(device: Loose<Device> & { basic?: Loose<Device> }): Loose<Device> {
  return device.basic ?? device
}
