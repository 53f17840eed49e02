import {
  asError,
  createWakeFlag,
  runAll,
  sayWhenNew,
  type Clock,
  type Logger,
  type Random,
  type WakeFlag,
} from '@skerry/base'
import type { EndpointSlice, Node, ObjectMeta, Service } from '@skerry/api'
import { createInformer, resources, type ClusterClient, type Informer } from '@skerry/client'
import { createHealthCheckPorts } from './services/health-check-ports.ts'
import { withLocalAddresses } from './services/local-endpoints.ts'
import { createForwarder } from './dns/forwarder.ts'
import { startDnsServer } from './dns/dns-server.ts'
import type { NetworkHealth } from './network/network-health.ts'
import type { Nft } from './nftables/nft.ts'
import { keepNodeNetwork, prepareNodeNetwork } from './network/node-network.ts'
import type { NetworkPolicies } from './policy/network-policies.ts'
import { planPodNetwork, type PodNetworkPlan } from './network/pod-network.ts'
import { applyPodRoutes, haveRoutes, isNeighbour } from './network/pod-routes.ts'
import { readMachinePorts, type MachinePorts, type UsedPort } from './services/machine-ports.ts'
import { createServiceProxy, type ServiceProxy } from './services/service-proxy.ts'
import {
  presumeReady,
  type ServiceSnapshot,
  type ServiceState,
} from './services/service-snapshot.ts'
import type { ServiceNetwork } from './services/service-table.ts'
import { topologyAnnotations } from './services/topology-annotations-table.ts'
import { ServiceView } from './service-view.ts'
import { serviceProxyBounds } from './limits-table.ts'

export interface ServiceNetworkConfig {
  nodeName: string
  /** It may change, so that it is read for each use. */
  readonly nodeAddress: string
  clusterCidr: string
  serviceCidr: string
  dnsAddress: string
  /** Further addresses that this node answers for its own pods. Default: none. */
  localAddresses?: readonly string[]
  /** Default: cluster.local. */
  clusterDomain: string
  /** The resolvers for names outside the cluster. */
  resolvers: readonly string[]
  /** Addresses that machines of the cluster need and that no service may take, such as the hub's. */
  reservedAddresses: readonly string[]
}

export interface ServiceNetworkDeps {
  cluster: ClusterClient
  nft: Nft
  snapshot: ServiceSnapshot
  policies: Pick<NetworkPolicies, 'run'>
  /** Returns the current address of a pod of this node, or undefined for other pods and before it has one. */
  podAddress: (podUid: string) => string | undefined
  /** The node's part in balancing services. If omitted, it reports nothing. */
  balancing?: NodeBalancing | undefined
  /** Watches the nodes while the control plane is away. If omitted, nobody does. */
  neighbours?: NodeWatch | undefined
  clock: Clock
  random: Random
  log: Logger
  health: NetworkHealth
}

export interface NodeBalancing {
  /** Returns the ports of the machine that pods of this node take by `hostPort`. */
  hostPorts(): readonly UsedPort[]
  /** Called with the used ports that load balancers want of this node, e.g. `22/tcp`, when they have changed. */
  onUsedPorts(ports: readonly string[]): void
}

/** Finds dead nodes without the control plane. */
export interface NodeWatch {
  /** Called with all nodes, after each change. */
  onNodes(nodes: readonly Node[]): void
  /** Calls back with the nodes whose endpoints are to be left out, now and after each change. */
  onDead(listener: (dead: ReadonlySet<string>) => void): Disposable
}

const { dnsTtlSeconds } = serviceProxyBounds.runServiceNetwork
const { snapshotSettleMs, routesSettleMs, routesCheckMs, localPodsMs } =
  serviceProxyBounds.runServiceNetwork

/**
 * Serves this node's service network until the signal aborts. Rules, routes and the DNS address
 * remain, so that pods keep their services while this process restarts. Begins with the snapshot: a
 * node that starts without its control plane still routes and resolves.
 */
export async function runServiceNetwork(
  config: ServiceNetworkConfig,
  deps: ServiceNetworkDeps,
  signal: AbortSignal,
): Promise<void> {
  await prepareNodeNetwork(config, deps.log)
  const proxy = createProxy(config, deps)
  const healthChecks = createHealthCheckPorts(config, {
    log: deps.log,
    isHealthy: () => deps.health.problems().length === 0,
  })
  const isOutdated = createWakeFlag()
  const view = new ServiceView(config, { proxy, healthChecks, isOutdated, log: deps.log })
  const saved = await deps.snapshot.load()
  if (saved !== undefined) view.showSaved(saved, presumeReady)
  using _dead = deps.neighbours?.onDead((dead) => view.setDeadNodes(dead))
  await using dns = await startDnsServer(
    {
      address: config.dnsAddress,
      port: 53,
      domain: config.clusterDomain,
      ttlSeconds: dnsTtlSeconds,
    },
    { zone: () => view.zone, forwarder: createForwarder(config.resolvers, deps), log: deps.log },
  )
  deps.log.info('Service network serves', {
    dns: `${config.dnsAddress}:${dns.port}`,
    fromSnapshot: saved !== undefined,
  })
  await runAll(signal, [
    (scope) => proxy.run(scope),
    (scope) => healthChecks.run(scope),
    (scope) => keepNodeNetwork(config, deps, scope),
    (scope) => followServices(deps, { view, isOutdated }, scope),
    async (scope) => {
      while (saved !== undefined && !view.isComplete) {
        view.showSaved(saved, (near) => withLocalAddresses(presumeReady(near), deps.podAddress))
        await deps.clock.sleep(localPodsMs, scope)
      }
    },
    (scope) => followNodes(config, { ...deps, proxy, view }, scope),
    (scope) => deps.policies.run(scope),
  ])
}

function createProxy(config: ServiceNetworkConfig, deps: ServiceNetworkDeps): ServiceProxy {
  const readMachine = async (): Promise<MachinePorts> => {
    const machine = await readMachinePorts()
    return { ...machine, used: [...machine.used, ...(deps.balancing?.hostPorts() ?? [])] }
  }
  const { nodeName } = config
  const onUsedPorts = (ports: readonly string[]): void => deps.balancing?.onUsedPorts(ports)
  const parts = { ...deps, readMachine, onUsedPorts }
  return createServiceProxy({ nodeName, network: networkOf(config) }, parts)
}

/** Returns the owners of addresses, as far as a node knows them before it hears of others. */
export function networkOf(config: Omit<ServiceNetworkConfig, 'nodeName'>): ServiceNetwork {
  const { nodeAddress, clusterCidr, serviceCidr, dnsAddress, resolvers } = config
  return {
    clusterCidr,
    serviceCidr,
    podCidr: undefined,
    ownAddresses: [dnsAddress],
    nodeAddresses: [nodeAddress],
    reservedAddresses: [...resolvers, ...config.reservedAddresses],
  }
}

async function followServices(
  deps: ServiceNetworkDeps,
  { view, isOutdated }: { readonly view: ServiceView; readonly isOutdated: WakeFlag },
  signal: AbortSignal,
): Promise<void> {
  const services = createInformer<Service>(
    deps.cluster.resource(resources.services),
    { transform: slimService },
    deps,
  )
  const slices = createInformer<EndpointSlice>(
    deps.cluster.resource(resources.endpointSlices),
    { transform: slim },
    deps,
  )
  services.onChange(isOutdated.raise)
  slices.onChange(isOutdated.raise)
  const state = (): ServiceState => ({ services: services.list(), slices: slices.list() })
  await runAll(signal, [
    (scope) => services.run(scope),
    (scope) => slices.run(scope),
    async (scope) => {
      // Until both are complete, a service without its endpoints would refuse connections.
      await Promise.all([services.whenSynced(scope), slices.whenSynced(scope)])
      view.showHeard(state)
      const onChange = (): void => view.showHeard(state)
      using _services = services.onChange(onChangeSoon(onChange))
      using _slices = slices.onChange(onChangeSoon(onChange))
      for (;;) {
        await isOutdated.wait(scope)
        await deps.clock.sleep(snapshotSettleMs, scope)
        await deps.snapshot.save(view.kept(state()))
      }
    },
  ])
}

/** Calls back once per turn of the event loop, however many changes it brought. */
function onChangeSoon(act: () => void): () => void {
  let isPlanned = false
  return () => {
    if (isPlanned) return
    isPlanned = true
    queueMicrotask(() => {
      isPlanned = false
      act()
    })
  }
}

type NodesFollower = ServiceNetworkDeps & {
  readonly proxy: ServiceProxy
  readonly view: ServiceView
}

async function followNodes(
  config: ServiceNetworkConfig,
  deps: NodesFollower,
  signal: AbortSignal,
): Promise<void> {
  const nodes = createInformer<Node>(
    deps.cluster.resource(resources.nodes),
    { transform: slimNode },
    deps,
  )
  const dirty = createWakeFlag()
  nodes.onChange(dirty.raise)
  await runAll(signal, [
    (scope) => nodes.run(scope),
    async (scope) => {
      await nodes.whenSynced(scope)
      let wanted: PodNetworkPlan | undefined
      let isChanged = true
      // Nodes are planned again with every heartbeat.
      const sayRefused = sayWhenNew<PodNetworkPlan['refused'][number]>((refused) =>
        deps.log.error('Pod range of a node not routed', { ...refused }),
      )
      nodes.onChange(() => (isChanged = true))
      for (;;) {
        using _timer = deps.clock.setTimer(routesCheckMs, dirty.raise)
        await dirty.wait(scope)
        await deps.clock.sleep(routesSettleMs, scope)
        if (!isChanged && wanted !== undefined && (await haveRoutes(wanted))) continue
        // A node that changes from here on is planned in the next round.
        isChanged = false
        wanted = await followOnce(config, { ...deps, nodes, sayRefused }, scope)
      }
    },
  ])
}

async function followOnce(
  config: ServiceNetworkConfig,
  deps: NodesFollower & {
    nodes: Informer<Node>
    sayRefused: (refused: PodNetworkPlan['refused']) => void
  },
  signal: AbortSignal,
): Promise<PodNetworkPlan | undefined> {
  const all = deps.nodes.list()
  const own = all.find((node) => node.metadata.name === config.nodeName)
  if (own?.spec?.podCIDR) deps.proxy.setPodCidr(own.spec.podCIDR)
  deps.view.setNodes(all)
  deps.neighbours?.onNodes(all)
  try {
    const plan = await planWithNeighbours(all, config)
    deps.sayRefused(plan.refused)
    await applyPodRoutes(plan, { nodeAddress: config.nodeAddress })
    return plan
  } catch (error) {
    if (signal.aborted) throw signal.reason
    deps.log.error('Routes to other nodes not set', {
      error: asError(error),
    })
    return undefined
  }
}

async function planWithNeighbours(
  nodes: readonly Node[],
  { nodeName: ownName, clusterCidr }: ServiceNetworkConfig,
): Promise<PodNetworkPlan> {
  const options = { ownName, clusterCidr }
  const neighbours = new Set<string>()
  for (const route of planPodNetwork(nodes, options, () => true).routes) {
    if (await isNeighbour(route.nodeAddress)) neighbours.add(route.nodeAddress)
  }
  return planPodNetwork(nodes, options, (address) => neighbours.has(address))
}

/** Rules need no annotations and no history, so a node with a thousand services keeps less. */
function slim<T extends { metadata: ObjectMeta }>(object: T): T {
  const { name, namespace, labels, uid, resourceVersion, creationTimestamp } = object.metadata
  const metadata = { name, namespace, labels, uid, resourceVersion, creationTimestamp }
  return { ...object, metadata }
}

/** A service's annotations may say where its traffic stays. */
function slimService(service: Service): Service {
  const { annotations = {} } = service.metadata
  const kept = topologyAnnotations.flatMap(({ annotation }) => {
    const value = annotations[annotation]
    return value === undefined ? [] : [[annotation, value] as const]
  })
  const slimmed = slim(service)
  if (kept.length === 0) return slimmed
  return { ...slimmed, metadata: { ...slimmed.metadata, annotations: Object.fromEntries(kept) } }
}

function slimNode(node: Node): Node {
  return {
    ...slim(node),
    spec: { podCIDR: node.spec?.podCIDR },
    status: {
      addresses: node.status?.addresses,
      daemonEndpoints: node.status?.daemonEndpoints,
    },
  }
}
