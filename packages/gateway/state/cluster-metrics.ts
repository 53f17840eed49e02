import type { Metrics } from '@skerry/base'
import type { Objects } from '@skerry/apiserver'
import {
  clusterResource,
  conditionTypes,
  type Cluster,
  conditionOf,
  parentOf,
} from '@skerry/fleet-kinds'

export interface ClusterMetricsDeps {
  readonly objects: () => Objects | undefined
  /** By a tunnel, wherever that ends. */
  readonly isConnected: (cluster: string) => boolean
}

export const clusterConnectedName = 'skerry_hub_cluster_connected'
/** So that a scrape stays below a megabyte. */
const linesMax = 10_000

/**
 * For each cluster that an agent has ever connected, whether one does now: a cluster that is gone has a line
 * that says so, where those of its tunnel have no value any more.
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
      (objects()?.list(clusterResource) ?? [])
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

/** One in push mode, or with Karmada's own agent, never is. */
function wasConnected({ status }: Cluster): boolean {
  const connected = conditionOf(status?.conditions, conditionTypes.connected)
  return connected !== undefined && connected.reason !== 'NeverConnected'
}
