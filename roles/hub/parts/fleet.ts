import { lateControllers } from '@skerry/controller-runtime'
import { fleetAdmission, karmadaKinds, type TenantRules } from '@skerry/karmada-kinds'
import { propagationTriggers } from '@skerry/propagation'
import type { HubPart } from '../contract/hub-part.ts'

export interface FleetOptions {
  /** True moves objects off clusters whose taints they do not tolerate, or where they are unhealthy. */
  failover?: boolean | undefined
  /** If omitted, the writers of a namespace reach nothing outside of it. */
  rules?: TenantRules
}

/** Carries out policies: finds the selected objects, places them, writes the Works, and moves what must leave. */
export function fleet({ failover, rules = {} }: FleetOptions): HubPart {
  const isOn = failover === true
  return {
    kinds: (builtin) => karmadaKinds(builtin, { allowsNoExecute: isOn, rules }),
    access: ({ objects }) => ({ admission: () => fleetAdmission(objects) }),
    controllers: () => [
      lateControllers({
        name: 'propagation',
        triggers: propagationTriggers,
        async load(deps, signal) {
          const { fleetControllers } = await import('../fleet/fleet-controllers.ts')
          return fleetControllers({ isOn, rules }, deps, signal)
        },
      }),
    ],
  }
}
