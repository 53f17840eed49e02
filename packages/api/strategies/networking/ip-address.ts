import type { IPAddress } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const ipAddressStrategy = strategyOf<IPAddress>({
  hasGeneration: false,
})
