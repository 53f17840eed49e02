import type { BackgroundController } from '@skerry/controller-runtime'
import type { TenantRules } from '@skerry/karmada-kinds'
import {
  createFleetFailover,
  createFleetScheduler,
  propagation,
  type FleetFailoverOptions,
} from '@skerry/propagation'

/** What a hub does with policies: it finds what they select, places it, writes the Works, and moves what must leave. */
export function fleetControllers(
  failover: FleetFailoverOptions = {},
  rules: TenantRules = {},
): BackgroundController[] {
  const others = [...createFleetScheduler(), ...createFleetFailover(failover)]
  return [propagation({ others, rules })]
}
