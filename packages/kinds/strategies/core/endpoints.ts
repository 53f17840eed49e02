import type { Endpoints } from '@skerry/api'
import { strategyOf } from '../typed-strategy.ts'
import { validateEndpoints, validateEndpointsUpdate } from './endpoints-validation.ts'
import { warningsOfIp } from '../ip-warnings.ts'

export const endpointsStrategy = strategyOf<Endpoints>({
  warnings({ metadata: { labels = {} }, subsets = [] }) {
    if (labels['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return []
    return subsets.flatMap((subset, at) =>
      (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
        (subset[list] ?? []).flatMap(({ ip = '' }, index) =>
          warningsOfIp(ip, `subsets[${at}].${list}[${index}].ip`),
        ),
      ),
    )
  },
  validate: validateEndpoints,
  validateUpdate: validateEndpointsUpdate,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) {
      for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
    }
  },
})
