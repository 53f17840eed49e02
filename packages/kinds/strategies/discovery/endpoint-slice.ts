import type { EndpointSlice } from '@skerry/api'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice-validation.ts'
import { warningsOfIp } from '../ip-warnings.ts'

const ownManagers: ReadonlySet<string> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
])

export const endpointSliceStrategy = strategyOf<EndpointSlice>({
  warnings({ addressType, endpoints, metadata: { labels = {} } }, old) {
    const isFqdn = addressType === 'FQDN' && !old
    const isOurs = ownManagers.has(labels['endpointslice.kubernetes.io/managed-by'] ?? '')
    return [
      ...(isFqdn ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
      ...(isOurs ? [] : (endpoints ?? [])).flatMap(({ addresses }, at) =>
        (addresses ?? []).flatMap((ip, index) =>
          warningsOfIp(ip, `endpoints[${at}].addresses[${index}]`),
        ),
      ),
    ]
  },
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
