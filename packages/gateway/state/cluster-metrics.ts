import type { Metrics } from '@skerry/base'
import type { Objects } from '@skerry/apiserver'
import {
  clusterResource,
  conditionTypes,
  type Cluster,
  conditionOf,
  parentOf,
} from '@skerry/fleet-kinds'
import { gatewayBounds } from '../limits-table.ts'

export interface ClusterMetricsDeps {
  readonly objects: Objects
  /** Reports whether the cluster has a tunnel, on whichever replica it ends. */
  readonly isConnected: (cluster: string) => boolean
}

export const clusterConnectedName = 'skerry_hub_cluster_connected'
const { linesMax } = gatewayBounds.clusterMetrics

/**
 * Reports for each cluster that an agent has ever connected whether it is connected now. A disconnected
 * cluster keeps its line, while the metrics of its tunnel have no value.
 */
export function observeClusters(
  metrics: Metrics,
  { objects, isConnected }: ClusterMetricsDeps,
): void {
  metrics.observed(
    {
      type: 'gauge',
      name: clusterConnectedName,
      help: '1 while an agent connects the cluster, 0 while none does.',
      labels: ['cluster'],
    },
    () =>
      objects
        .list(clusterResource)
        .filter((object) => parentOf(object) === undefined)
        // The registry keeps only what was decoded as this kind.
        .map((object) => object as unknown as Cluster)
        .flatMap((cluster) => {
          const { name = '' } = cluster.metadata
          if (isConnected(name)) return [{ labels: { cluster: name }, value: 1 }]
          return wasConnected(cluster) ? [{ labels: { cluster: name }, value: 0 }] : []
        })
        .slice(0, linesMax),
  )
}

/** Returns false for a cluster in push mode or with Karmada's own agent, which is never connected. */
function wasConnected({ status }: Cluster): boolean {
  const connected = conditionOf(status?.conditions, conditionTypes.connected)
  return connected !== undefined && connected.reason !== 'NeverConnected'
}
