import type { BackgroundController } from '@skerry/controller-runtime'
import {
  createFleetFailover,
  createFleetScheduler,
  propagation,
  type FleetFailoverOptions,
} from '@skerry/karmada'

/** What a hub does with policies: it finds what they select, places it, writes the Works, and moves what must leave. */
export function fleetControllers(failover: FleetFailoverOptions = {}): BackgroundController[] {
  return [propagation({ others: [...createFleetScheduler(), ...createFleetFailover(failover)] })]
}
