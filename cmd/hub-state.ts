import type { Objects, Route } from '@skerry/apiserver'
import {
  awaySinceMs,
  clusterResource,
  clusterStatesRoute,
  createHubMetrics,
  observedWay,
  parentOf,
  throughParents,
  tracedTunnels,
  tunnelRoute,
  type ClusterProxyDeps,
} from '@skerry/karmada'
import type { HubTunnels } from './hub-tunnels.ts'
import type { RoleContext } from './role-context.ts'

/** What a hub tells of its clusters: metrics, a log line for each request, and how they are. */
export interface HubState {
  /** For agents' tunnels, and for those who look at clusters. */
  readonly routes: readonly Route[]
  /** The way to the clusters, observed. */
  readonly tunnels: ClusterProxyDeps['tunnels']
  readonly awaySinceMs: NonNullable<ClusterProxyDeps['awaySinceMs']>
  /** Audit lines that were lost. */
  readonly onLost: (lines: number) => void
}

export function createHubState(
  tunnels: HubTunnels,
  objects: () => Objects | undefined,
  { clock, log, metrics: registry, tracer, onBytes }: RoleContext,
): HubState {
  const { own, links, all } = tunnels
  const metrics = createHubMetrics(registry, { tunnels: own, links })
  const way = throughParents(all, (cluster) => {
    const object = objects()?.get(clusterResource, '', cluster)
    return object && parentOf(object)
  })
  return {
    routes: [
      tunnelRoute({
        tunnels: own,
        describe: all.describe,
        onOpened(cluster, session, agent) {
          tunnels.onOpened(session, agent)
          metrics.onOpened(cluster, session)
        },
        onHandshake: (result) => metrics.onHandshake(result),
        replica: tunnels.replica,
        clock,
        log,
        ...(onBytes ? { onBytes } : {}),
      }),
      clusterStatesRoute({ objects, describe: all.describe }),
    ],
    tunnels: tracedTunnels(observedWay(way, { metrics, clock, log }), tracer),
    awaySinceMs: (cluster) => awaySinceMs(objects()?.get(clusterResource, '', cluster)),
    onLost: (lines) => metrics.onLost(lines),
  }
}
