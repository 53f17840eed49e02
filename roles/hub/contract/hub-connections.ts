import {
  createConnectedClusters,
  createReplicaTeller,
  describeTunnels,
  type AgentFacts,
  type ConnectedClusters,
  type ReplicaTeller,
  type TunnelsReport,
} from '@skerry/gateway'
import type { TunnelState, TunnelStates } from '@skerry/membership'
import { TunnelRegistry, type TunnelSession } from '@skerry/tunnel'
import type { RoleContext } from '../../runtime/role-context.ts'
import { JoinedReplicas } from './joined-replicas.ts'

/** Everything that has dialled this hub: agents, here or at another replica, and the replicas themselves. */
export interface HubConnections {
  /** The tunnels of agents that end in this process. */
  readonly own: TunnelRegistry
  /** The links of other replicas that end in this process, by their ids. */
  readonly links: TunnelRegistry
  readonly replicas: JoinedReplicas
  /** The clusters that are connected here or at another replica, and the way to them. */
  readonly clusters: ConnectedClusters
  /** The same clusters, for those who wait for a change. */
  readonly states: TunnelStates
  /** Notes which agent opened a tunnel that ends here. */
  onOpened(session: TunnelSession, agent: AgentFacts): void
  /** Calls the listeners of `states`: tunnels of this cluster have changed at another replica. */
  onCluster(this: void, cluster: string): void
  /** Describes, for operators, a cluster's tunnels that end here. */
  describeOwn(this: void, cluster: string): TunnelsReport
  /** Tells each agent how many replicas there are, where that has changed. */
  readonly tellAll: ReplicaTeller['tellAll']
}

export function createHubConnections({ clock, log }: RoleContext): HubConnections {
  const listeners = new Set<(cluster: string) => void>()
  const onCluster = (cluster: string): void => listeners.forEach((listener) => listener(cluster))
  const onChange: TunnelStates['onChange'] = (listener) => {
    listeners.add(listener)
    return { [Symbol.dispose]: () => void listeners.delete(listener) }
  }
  const replicas = new JoinedReplicas()
  const own = new TunnelRegistry(
    {
      onChange(cluster, _change, count) {
        const reason = count > 0 ? undefined : own.lastEnd(cluster)?.reason
        replicas.setHeld(cluster, count > 0, reason)
        onCluster(cluster)
      },
    },
    clock,
  )
  const onLink = (id: string): void => replicas.heldBy(id).forEach(onCluster)
  const links = new TunnelRegistry({ onChange: onLink }, clock)
  const agents = new WeakMap<TunnelSession, AgentFacts>()
  const agentOf = (session: TunnelSession): AgentFacts | undefined => agents.get(session)
  const teller = createReplicaTeller({ own, replica: () => replicas.self(), clock, log })
  const parts = { own, links, agentOf, directory: replicas, clock, onChange }
  const clusters = createConnectedClusters(parts)
  return {
    own,
    links,
    replicas,
    clusters,
    states: { of: (cluster) => stateOf(clusters, cluster), onChange },
    onOpened(session, agent) {
      agents.set(session, agent)
      teller.tell(session)
    },
    onCluster,
    describeOwn: (cluster) => describeTunnels({ registry: own, agentOf, clock }, cluster),
    tellAll: () => teller.tellAll(),
  }
}

function stateOf(clusters: ConnectedClusters, cluster: string): TunnelState {
  const lastEnd = clusters.lastEnd(cluster)
  const isConnected = clusters.isConnected(cluster)
  return lastEnd ? { isConnected, lastEnd } : { isConnected }
}
