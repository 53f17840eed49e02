import { wrapped } from '@skerry/base'
import type { Objects } from '@skerry/apiserver'
import { pushedWay, type PushForwarders, type PushPlans } from '@skerry/cluster-agent'
import { clusterResource, parentOf } from '@skerry/fleet-kinds'
import { observedWay, tracedWay, type ClusterWay, type HubMetrics } from '@skerry/gateway'
import { throughParents } from '@skerry/virtual-clusters'
import type { RoleContext } from '../runtime/role-context.ts'

export interface WayToClusterParts {
  /** The tunnels, wherever they end. */
  readonly clusters: ClusterWay
  readonly objects: Objects
  readonly planOf: PushPlans
  readonly forwarders: PushForwarders
  readonly metrics: Pick<HubMetrics, 'onAnswer' | 'onFailure'>
}

/** The way of each request to a cluster. It passes the list from its last line to its first, and then the tunnels. */
export function wayToCluster(
  { clusters, objects, planOf, forwarders, metrics }: WayToClusterParts,
  { clock, log, tracer }: RoleContext,
): ClusterWay {
  const parent = (cluster: string): string | undefined => {
    const object = objects.get(clusterResource, '', cluster)
    return object && parentOf(object)
  }
  return wrapped(clusters, [
    throughParents(parent),
    pushedWay(planOf, forwarders),
    observedWay({ metrics, clock, log }),
    tracedWay(tracer),
  ])
}
