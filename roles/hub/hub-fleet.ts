import type { BackgroundController } from '@skerry/controller-runtime'
import type { TenantRules } from '@skerry/karmada-kinds'
import {
  createFleetFailover,
  createFleetScheduler,
  propagation,
  type FleetFailoverOptions,
} from '@skerry/propagation'

/**
 * Returns the controllers of policies: they find the selected objects, place them, write the Works, and move
 * what must leave.
 */
export function fleetControllers(
  failover: FleetFailoverOptions = {},
  rules: TenantRules = {},
): BackgroundController[] {
  const others = [...createFleetScheduler(), ...createFleetFailover(failover)]
  return [propagation({ others, rules })]
}
