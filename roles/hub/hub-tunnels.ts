import { randomBytes, X509Certificate, createHash } from 'node:crypto'
import type { Route } from '@skerry/apiserver'
import { createWakeFlag, runAll, type Task } from '@skerry/base'
import { issueClientCertificate } from '@skerry/bootstrap'
import {
  createReplicaHandler,
  createReplicaTeller,
  createConnectedClusters,
  describeTunnels,
  ReplicaDirectory,
  replicaRoute,
  replicasGroup,
  replicaUserName,
  runReplicaLinks,
  type AgentFacts,
  type Replica,
  type ConnectedClusters,
} from '@skerry/gateway'
import type { TunnelState, TunnelStates } from '@skerry/membership'
import { TunnelRegistry, type HubReplica, type TunnelSession } from '@skerry/tunnel'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { RoleContext } from '../runtime/role-context.ts'

export interface HubTunnels {
  /** The tunnels that end in this process. */
  readonly own: TunnelRegistry
  /** The links of other replicas that end in this process. */
  readonly links: TunnelRegistry
  /** The tunnels of this replica and of all others. */
  readonly all: ConnectedClusters
  /** Records the opener of a tunnel that ends here. */
  readonly onOpened: (session: TunnelSession, agent: AgentFacts) => void
  readonly states: TunnelStates
  /** Returns this replica, once it has joined the others; undefined if it stays alone. */
  readonly replica: () => HubReplica | undefined
  /** The route for links of other replicas; it refuses all until this one has joined them. */
  readonly route: Route
  /** Joins the replicas on this plane's store: the others reach it at this address. */
  join(plane: ControlPlane, address: string): Promise<Task>
}

const yearMs = 365 * 24 * 3_600_000
/** The certificate exists only in memory and ends with the process, so nothing renews it. */
const certificateMs = 5 * yearMs

/** Creates the tunnels of a hub: its own if it is alone, those of all replicas otherwise. */
export function createHubTunnels(context: RoleContext): HubTunnels {
  const { clock, log, onBytes } = context
  const listeners = new Set<(cluster: string) => void>()
  const onCluster = (cluster: string): void => listeners.forEach((listener) => listener(cluster))
  const replicas: Joined = {}
  const replica = (): HubReplica | undefined => replicaOf(replicas)
  const own = new TunnelRegistry(
    {
      onChange(cluster, _change, count) {
        const reason = count > 0 ? undefined : own.lastEnd(cluster)?.reason
        replicas.directory?.setHeld(cluster, count > 0, reason)
        onCluster(cluster)
      },
    },
    clock,
  )
  const onLink = (id: string): void => replicas.directory?.heldBy(id).forEach(onCluster)
  const links = new TunnelRegistry({ onChange: onLink }, clock)
  const directory = directoryOf(replicas)
  const onChange: TunnelStates['onChange'] = (listener) => {
    listeners.add(listener)
    return { [Symbol.dispose]: () => void listeners.delete(listener) }
  }
  const agents = new WeakMap<TunnelSession, AgentFacts>()
  const agentOf = (session: TunnelSession): AgentFacts | undefined => agents.get(session)
  const teller = createReplicaTeller({ own, replica, clock, log })
  const all = createConnectedClusters({ own, links, agentOf, directory, clock, onChange })
  return {
    own,
    links,
    all,
    replica,
    onOpened(session, agent) {
      agents.set(session, agent)
      teller.tell(session)
    },
    states: { of: (cluster) => stateOf(all, cluster), onChange },
    route: replicaRoute({ links, directory, clock, log, ...(onBytes ? { onBytes } : {}) }),
    async join(plane, address) {
      const changed = createWakeFlag()
      const { self, tls } = await identityOf(plane, address)
      const onReplicas = (): void => {
        changed.raise()
        teller.tellAll()
      }
      const listener = { onCluster, onReplicas }
      const joined = new ReplicaDirectory(self, { ...context, store: plane.store }, listener)
      await joined.load()
      replicas.directory = joined
      replicas.id = self.id
      teller.tellAll()
      for (const cluster of own.identities()) joined.setHeld(cluster, true)
      const reporting = { registry: own, agentOf, clock }
      const handler = createReplicaHandler(own, (cluster) => describeTunnels(reporting, cluster))
      const linking = { id: self.id, tls: () => tls, directory: joined, changed, handler }
      return async (scope) => {
        using _links = { [Symbol.dispose]: () => links.closeAll('the hub stops') }
        await runAll(scope, [
          (each) => joined.run(each),
          async (each) => {
            await joined.whenTold(each)
            await runReplicaLinks(linking, context, each)
          },
        ])
        scope.throwIfAborted()
      }
    },
  }
}

/** Empty until this replica has joined the others. */
interface Joined {
  directory?: ReplicaDirectory
  id?: string
}

function replicaOf({ directory, id }: Joined): HubReplica | undefined {
  return directory && id !== undefined ? { id, count: directory.others.size + 1 } : undefined
}

function directoryOf(joined: Joined) {
  return {
    holders: (cluster: string) => joined.directory?.holders(cluster) ?? [],
    lastEnd: (cluster: string) => joined.directory?.lastEnd(cluster),
    find: async (id: string) => joined.directory?.find(id),
  }
}

/** Creates the identity at each start: a replica is a process. */
async function identityOf(plane: ControlPlane, address: string) {
  const id = randomBytes(8).toString('hex')
  const { authority } = plane.pki
  const subject = { commonName: replicaUserName(id), organizations: [replicasGroup] }
  const options = { subject, lifetimeMs: certificateMs }
  const issued = await issueClientCertificate(authority, options, plane.time)
  const { raw } = new X509Certificate(issued.certificatePem)
  const certificateHash = createHash('sha256').update(raw).digest('hex')
  const self: Replica = { id, address, certificateHash }
  const { certificatePem: cert, privateKeyPem: key } = issued
  return { self, tls: { ca: authority.certificatePem, cert, key } }
}

function stateOf(tunnels: ConnectedClusters, cluster: string): TunnelState {
  const lastEnd = tunnels.lastEnd(cluster)
  const isConnected = tunnels.isConnected(cluster)
  return lastEnd ? { isConnected, lastEnd } : { isConnected }
}
