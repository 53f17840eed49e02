import type { Objects, Route } from '@skerry/apiserver'
import { PushForwarders, pushPlans, type PushPlans } from '@skerry/cluster-agent'
import { clusterResource } from '@skerry/fleet-kinds'
import {
  awaySinceMs,
  clusterStatesRoute,
  createHubMetrics,
  observeClusters,
  tunnelRoute,
  type ClusterProxyDeps,
  type OnBrokenTunnel,
} from '@skerry/gateway'
import type { RoleContext } from '../runtime/role-context.ts'
import type { HubTunnels } from './hub-tunnels.ts'
import { wayToCluster } from './way-to-cluster.ts'

/** The hub's reports on its clusters: metrics, a log line for each request, and states. */
export interface HubState extends Disposable {
  /** The routes for agents' tunnels, and for users who look at clusters. */
  readonly routes: readonly Route[]
  /** The way to the clusters, observed. */
  readonly way: ClusterProxyDeps['way']
  readonly awaySinceMs: NonNullable<ClusterProxyDeps['awaySinceMs']>
  /** Returns how to dial clusters in push mode. */
  readonly planOf: PushPlans
  /** Called with the number of lost audit lines. */
  readonly onLost: (lines: number) => void
}

interface Given {
  readonly options: { readonly push?: boolean | undefined }
  /** Filled in later: the audit log before it opens, the objects when it does. */
  readonly access: { readonly objects?: Objects; readonly onBroken?: OnBrokenTunnel }
}

export function createHubState(
  tunnels: HubTunnels,
  { options, access }: Given,
  context: RoleContext,
): HubState {
  const { clock, log, metrics: registry, onBytes } = context
  const { own, links, all } = tunnels
  const objects = (): Objects | undefined => access.objects
  const metrics = createHubMetrics(registry, { own, links })
  observeClusters(registry, { objects, isConnected: (cluster) => all.isConnected(cluster) })
  const planOf = pushPlans(options.push === true, objects)
  const forwarders = new PushForwarders({ clock, log })
  const ways = { clusters: all, objects, planOf, forwarders, metrics }
  return {
    routes: [
      tunnelRoute({
        registry: own,
        describe: all.describe,
        onOpened(cluster, session, agent) {
          tunnels.onOpened(session, agent)
          metrics.onOpened(cluster, session)
        },
        onBroken: (opener, session) => access.onBroken?.(opener, session),
        onHandshake: (result) => metrics.onHandshake(result),
        replica: tunnels.replica,
        clock,
        log,
        ...(onBytes ? { onBytes } : {}),
      }),
      clusterStatesRoute({ objects, describe: all.describe }),
    ],
    way: wayToCluster(ways, context),
    planOf,
    awaySinceMs: (cluster) => awaySinceMs(objects()?.get(clusterResource, '', cluster)),
    onLost: (lines) => metrics.onLost(lines),
    [Symbol.dispose]: () => forwarders[Symbol.dispose](),
  }
}
