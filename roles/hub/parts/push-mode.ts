import { createPushController, pushAdmission } from '@skerry/cluster-agent'
import type { HubPart } from '../contract/hub-part.ts'

export interface PushOptions {
  /** True dials clusters in push mode, at the addresses in their Clusters. */
  isOn?: boolean | undefined
  /** The interval at which the hub checks these clusters. Default: every 10 s. */
  statusPeriodMs?: number
}

/** Reports on clusters in push mode, and applies their Works; the way to them is in way-to-cluster.ts. */
export function pushMode({ isOn = false, statusPeriodMs }: PushOptions): HubPart {
  return {
    access: () => ({ admission: (authorizer) => [pushAdmission(isOn, authorizer)] }),
    controllers: ({ planOf }) => [
      createPushController(planOf, statusPeriodMs ? { statusPeriodMs } : {}),
    ],
  }
}
