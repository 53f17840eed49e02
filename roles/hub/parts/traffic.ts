import { trafficContractKind } from '@skerry/fleet-kinds'
import { runTrafficContracts } from '@skerry/gateway'
import type { HubPart } from '../contract/hub-part.ts'

/** Keeps the tunnels that end here at the TrafficContracts of their clusters. */
export function traffic(): HubPart {
  return {
    kinds: (builtin) => [trafficContractKind(builtin)],
    tasks({ cluster, connections: { own, states }, context }) {
      const onTunnel: typeof states.onChange = (listener) => states.onChange(listener)
      return [(scope) => runTrafficContracts({ cluster, registry: own, onTunnel }, context, scope)]
    },
  }
}
