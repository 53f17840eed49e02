import type { CSIDriver } from '../../generated/types.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const csiDriverStrategy = strategyOf<CSIDriver>({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults: applyDriverDefaults,
})

function applyDriverDefaults(driver: LooseObject<CSIDriver>): void {
  const spec = (driver.spec ??= {})
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  spec.storageCapacity ??= false
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent']
  spec.requiresRepublish ??= false
  spec.seLinuxMount ??= false
}
