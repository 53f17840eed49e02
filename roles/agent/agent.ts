import { hostname } from 'node:os'
import { runAll, type Connect, type Task } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  type ClusterClient,
  type HttpsTransportConfig,
  type Transport,
} from '@skerry/client'
import {
  clusterIdOf,
  createApiForwarder,
  ownClusters,
  runClusterReporter,
  type ClusterReporterDeps,
} from '@skerry/cluster-agent'
import { createInformerSet } from '@skerry/controller-runtime'
import type { AgentPlace } from '@skerry/fleet-kinds'
import {
  agentHeaders,
  classifyRequest,
  createAgentMetrics,
  heldReplicasHeaders,
  tunnelPrefix,
  withReplicaNotices,
  type AgentRefusal,
} from '@skerry/gateway'
import type { ImpersonationPolicy } from '@skerry/membership'
import type { VirtualViews } from '@skerry/virtual-clusters'
import {
  runTunnelAgent,
  type DialTunnelOptions,
  type TunnelAgentState,
  type TunnelHandler,
} from '@skerry/tunnel'
import { withClockCheck } from '../runtime/clock-check.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { openAgentIdentity, type AgentIdentity } from './agent-identity.ts'
import { agentWorks, openVirtual } from './agent-works.ts'
import type { ChildIdentities } from './child-identities.ts'
import { HubTunnels } from './hub-tunnels.ts'
import { openObserver } from './open-observer.ts'
import { untilRegistered } from './until-registered.ts'
import { createVirtualIdentities } from './virtual-identities.ts'
import { wayToApi, type WayToApiOptions } from './way-to-api.ts'

/** The changes that an agent makes in its cluster. */
interface AgentDuties {
  /** Whether to apply the hub's Works for this cluster. If omitted, they are ignored. */
  appliesWorks?: boolean | undefined
  /** The systems whose applications in groups of nodes are served in its cluster. If omitted, none. */
  edgeApps?: readonly string[] | undefined
  /** Whether groups of the cluster's nodes become virtual clusters, as its VirtualClusters define. */
  hasVirtualClusters?: boolean | undefined
}

export interface AgentOptions extends WayToApiOptions, AgentDuties {
  /** The directory of the agent's identity. */
  directory: string
  /** The hub's URL, https://host:port. */
  hub: string
  clusterName: string
  enrolment: AgentEnrolment
  /** The cluster's own API server, with the agent's credentials. */
  api: HttpsTransportConfig
  /** Reaches that API server in another way, for what the agent itself asks. If omitted, over HTTPS. */
  localTransport?: Transport
  /** Connects to the hub. If omitted, over TCP. */
  connect?: Connect
  place?: AgentPlace
  listeners?: AgentListeners
  /** The users whom it may impersonate in its cluster. If omitted, everybody whom the hub names. */
  policy?: ImpersonationPolicy
  /** The Secret that keeps their identities, as `namespace/name`. If omitted, only the data directory does. */
  identitySecret?: string
}

/** The proof that an agent may register; it needs none if it has an identity. */
export interface AgentEnrolment {
  readonly tokenFile: string | undefined
  readonly tokenText: string | undefined
  readonly caHash: string | undefined
}

export interface AgentListeners {
  /** Decides when it represents its cluster at the hub: by a tunnel, and by reports. If omitted, always. */
  gate?: (represent: Task) => Task
  onTunnel?: (state: TunnelAgentState) => void
  /** Called with the number of open tunnels whenever it changes. */
  onOpen?: (count: number) => void
  /**
   * Receives the views and returns a task that runs with the agent, to set its virtual clusters. If omitted,
   * there are none.
   */
  onViews?: (views: VirtualViews) => Task
  /** Returns a task that runs with the agent once it is registered. */
  onIdentity?: (identity: AgentIdentity) => Task
}

/** Registers the cluster with the hub and serves its API there, until the signal aborts. */
export async function runAgent(options: AgentOptions, context: RoleContext): Promise<void> {
  const { onTunnel } = withClockCheck({ hub: options.hub, ...options.listeners }, context)
  const { gate, onViews, onIdentity } = options.listeners ?? {}
  const { clock, random, log } = context
  const userAgent = `skerry/${version} (agent)`
  using overHttps = createHttpsTransport(options.api, { clock })
  const local = createCluster(options.localTransport ?? overHttps, { log, clock, userAgent })
  const readClusterId = (signal: AbortSignal) => clusterIdOf(local, signal)
  const open = () => openAgentIdentity({ ...options, ...options.enrolment, readClusterId }, context)
  const identity = await untilRegistered(options.hub, open, context)
  using hubTransport = createHttpsTransport(identity.transport, { clock })
  const metrics = createAgentMetrics(context.metrics, clock)
  const { api, policy = {} } = options
  const onRefused = (reason: AgentRefusal): void => metrics.onRefused(reason)
  using forwarder = createApiForwarder({ api, policy, onRefused }, { clock, log })
  const tunnels = new HubTunnels(hubTransport, clock)
  const hub = createCluster(tunnels.transport, { log, clock, userAgent })
  const observer = openObserver(local, api, context)
  const each = identitiesOf(options, { local, parent: identity }, context)
  const identityOf = each?.identityOf ?? (() => ({ hub }))
  const { views, virtual, tasks } = await openVirtual(
    { ...options, ...(onViews ? { onViews } : {}) },
    { hub, local, observer, identityOf, isFollowed: true },
    context,
  )
  const handler = wayToApi(options, { forwarder, local, views, metrics }, context)
  const { clusterName: name } = options
  const informers = createInformerSet(hub, { clock, random, log })
  const clusters = ownClusters(name, informers)
  const represent = representation(
    { identity, handler, tunnels, metrics, onTunnel },
    { hub, observer, clusters },
    options,
    context,
  )
  await runAll(context.signal, [
    (scope) => identity.client.run(scope),
    ...(onIdentity ? [onIdentity(identity)] : []),
    ...(each ? [each.run] : []),
    (scope) => observer.run(scope),
    (scope) => informers.run(scope),
    ...tasks,
    ...agentWorks(
      {
        clusterName: name,
        appliesWorks: options.appliesWorks === true,
        edgeApps: options.edgeApps ?? [],
        virtual,
      },
      { hub, local, clusters },
      context,
    ),
    gate?.(represent) ?? represent,
  ])
}

interface Representing {
  readonly identity: AgentIdentity
  readonly handler: TunnelHandler
  readonly tunnels: HubTunnels
  readonly metrics: ReturnType<typeof createAgentMetrics>
  readonly onTunnel: (state: TunnelAgentState) => void
}

/** Returns the task that represents the cluster at the hub: by reports, and by tunnels that it keeps open. */
function representation(
  { identity, handler, tunnels, metrics, onTunnel }: Representing,
  reported: Pick<ClusterReporterDeps, 'hub' | 'observer' | 'clusters'>,
  options: AgentOptions,
  { clock, random, log, onBytes }: RoleContext,
): Task {
  const { labels, ...place } = options.place ?? {}
  const reporting = {
    name: options.clusterName,
    place,
    ...(labels ? { labels } : {}),
    appliesWorks: options.appliesWorks === true,
  }
  const isPresent = (): boolean => tunnels.isPresent()
  const onOpen = options.listeners?.onOpen
  return (signal) =>
    runAll(signal, [
      (scope) =>
        runClusterReporter(reporting, { ...reported, isPresent, clock, random, log }, scope),
      (scope) =>
        runTunnelAgent(
          {
            endpoint: (held) => endpointOf(options, identity, held),
            ...(onOpen ? { onOpen } : {}),
            onState(state) {
              tunnels.onState(state)
              metrics.onTunnel(state)
              onTunnel(state)
            },
          },
          (onReplica) => withReplicaNotices(handler, onReplica),
          { clock, random, log, classify: classifyRequest, ...(onBytes ? { onBytes } : {}) },
          scope,
        ),
    ])
}

/** Returns the identities of its virtual clusters; undefined if it has none. */
function identitiesOf(
  options: AgentOptions,
  parts: { readonly local: ClusterClient; readonly parent: AgentIdentity },
  context: RoleContext,
): ChildIdentities | undefined {
  return options.hasVirtualClusters ? createVirtualIdentities(options, parts, context) : undefined
}

function endpointOf(
  { hub, clusterName, connect }: AgentOptions,
  { authorityPem, client }: AgentIdentity,
  held: readonly string[],
): DialTunnelOptions {
  const { certificatePem: cert, privateKeyPem: key } = client.current
  return {
    url: `${hub.replace(/^http/, 'ws').replace(/\/$/, '')}${tunnelPrefix}${clusterName}`,
    headers: { ...agentHeaders(hostname(), version), ...heldReplicasHeaders(held) },
    tls: { ca: authorityPem, cert, key },
    ...(connect ? { connect } : {}),
  }
}
