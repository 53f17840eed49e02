import type { ControllerDefinition } from '@skerry/controller-runtime'
import {
  clusterResourceBindingResource,
  resourceBindingResource,
  type PurgeMode,
} from '@skerry/karmada-kinds'
import { applicationFailoverController } from './application-failover-controller.ts'
import {
  clusterReadinessTaints,
  clusterTaintPolicyController,
} from './cluster-taint-controllers.ts'
import { gracefulEvictionController } from './graceful-eviction-controller.ts'
import { taintEvictionController } from './taint-eviction-controller.ts'
import { propagationBounds } from '../limits-table.ts'

export interface FleetFailoverOptions {
  /** Whether objects leave clusters automatically; default no, as upstream. */
  readonly isOn?: boolean
  /** How they leave for a taint, if their policy does not define it; default Gracefully. */
  readonly purgeMode?: PurgeMode
  /** The rate of evictions for taints; default 0.5. */
  readonly evictionsPerSecond?: number
  /** The time that a copy waits for its successor, if its task does not define it; default 10 minutes. */
  readonly gracefulTimeoutMs?: number
}

const fleetFailoverDefaults = propagationBounds.fleetFailover

/**
 * Creates the controllers of taints that follow from conditions and policies, of requested evictions, and, if
 * it is on, of evictions that follow from taints and from applications' health.
 */
export function createFleetFailover(options: FleetFailoverOptions = {}): ControllerDefinition[] {
  const settings = { ...fleetFailoverDefaults, ...options }
  const { purgeMode, evictionsPerSecond, gracefulTimeoutMs: timeoutMs } = settings
  const kinds = [
    { prefix: 'resource-binding', resource: resourceBindingResource },
    { prefix: 'cluster-resource-binding', resource: clusterResourceBindingResource },
  ]
  return [
    clusterReadinessTaints,
    clusterTaintPolicyController,
    ...kinds.map(({ prefix, resource }) =>
      gracefulEvictionController({
        name: `${prefix}-graceful-eviction-controller`,
        resource,
        timeoutMs,
      }),
    ),
    ...(settings.isOn
      ? kinds.flatMap(({ prefix, resource }) => [
          taintEvictionController({
            name: `${prefix}-taint-eviction`,
            resource,
            purgeMode,
            evictionsPerSecond,
          }),
          applicationFailoverController({
            name: `${prefix}-application-failover-controller`,
            resource,
          }),
        ])
      : []),
  ]
}
