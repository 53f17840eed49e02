import type { EndpointSlice } from '../../generated/types.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice-validation.ts'

export const endpointSliceStrategy = strategyOf<EndpointSlice>({
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  hasGeneration: true,
  defaults: applyEndpointSliceDefaults,
})

function applyEndpointSliceDefaults(slice: LooseObject<EndpointSlice>): void {
  for (const endpoint of slice.endpoints ?? []) endpoint.conditions ??= {}
  for (const port of slice.ports ?? []) {
    port.name ??= ''
    port.protocol ??= 'TCP'
  }
}
