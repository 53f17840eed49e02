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

export interface FleetFailoverOptions {
  /** Whether objects leave clusters by themselves; default no, as upstream. */
  readonly isOn?: boolean
  /** How they leave for a taint, where their policy does not say; default Gracefully. */
  readonly purgeMode?: PurgeMode
  /** For taints; default 0.5. */
  readonly evictionsPerSecond?: number
  /** How long a copy waits for its successor, where its task does not say; default 10 minutes. */
  readonly gracefulTimeoutMs?: number
}

const fleetFailoverDefaults: Readonly<Required<FleetFailoverOptions>> = Object.freeze({
  isOn: false,
  purgeMode: 'Gracefully',
  evictionsPerSecond: 0.5,
  gracefulTimeoutMs: 600_000,
})

/**
 * Taints that follow from conditions and policies, evictions that are asked for, and, where it is on,
 * those that follow from taints and from applications' health.
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
