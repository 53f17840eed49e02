import type { StorageClass } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const storageClassStrategy = strategyOf<StorageClass>({
  hasGeneration: false,
  defaults(storageClass) {
    storageClass.reclaimPolicy ??= 'Delete'
    storageClass.volumeBindingMode ??= 'Immediate'
  },
})
