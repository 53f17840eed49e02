import type { VolumeAttributesClass } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const volumeAttributesClassStrategy = strategyOf<VolumeAttributesClass>({
  hasGeneration: false,
})
