import { quoteGo, type Device, type ResourceSlice } from '@skerry/api'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
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
  setTimes(slice, nowMs) {
    for (const device of slice.spec?.devices ?? []) setTaintTimes(fieldsOf(device).taints, nowMs)
  },
  prepareForCreate: dropAlphaFields,
  prepareForUpdate: dropAlphaFields,
  defaults(slice) {
    if (slice.spec?.pool) slice.spec.pool.generation ??= 0
    for (const device of slice.spec?.devices ?? []) {
      const { nodeAllocatableResourceMappings = {} } = fieldsOf(device)
      const mappings = Object.values(nodeAllocatableResourceMappings)
      for (const mapping of mappings) mapping.allocationMultiplier ??= '1'
    }
  },
})

/** List attributes, and devices for a node's own resources, are alpha features. */
function dropAlphaFields({ spec }: LooseObject<ResourceSlice>): void {
  for (const device of spec?.devices ?? []) {
    const fields = fieldsOf(device)
    delete fields.nodeAllocatableResourceMappings
    for (const attribute of Object.values(fields.attributes ?? {})) {
      for (const list of ['bools', 'ints', 'strings', 'versions'] as const) delete attribute[list]
    }
  }
}

/** v1beta1 has a device's fields one level deeper. */
function fieldsOf(device: Loose<Device> & { basic?: Loose<Device> }): Loose<Device> {
  return device.basic ?? device
}
