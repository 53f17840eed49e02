import {
  asError,
  createWakeFlag,
  runAll,
  type Clock,
  type Logger,
  type Random,
  type WakeFlag,
} from '@skerry/base'
import type { EndpointSlice, Node, ObjectMeta, Service } from '@skerry/api'
import { createInformer, resources, type ClusterClient, type Informer } from '@skerry/client'
import { withLocalAddresses } from './services/local-endpoints.ts'
import { createForwarder } from './dns/forwarder.ts'
import { startDnsServer } from './dns/dns-server.ts'
import { buildZone, type Zone } from './dns/zone.ts'
import type { NetworkHealth } from './network/network-health.ts'
import type { Nft } from './nftables/nft.ts'
import { keepNodeNetwork, prepareNodeNetwork } from './network/node-network.ts'
import type { NetworkPolicies } from './policy/network-policies.ts'
import { planPodNetwork, type PodNetworkPlan } from './network/pod-network.ts'
import { applyPodRoutes, haveRoutes, isNeighbour } from './network/pod-routes.ts'
import { createServiceProxy, type ServiceProxy } from './services/service-proxy.ts'
import {
  presumeReady,
  type ServiceSnapshot,
  type ServiceState,
} from './services/service-snapshot.ts'
import type { ServiceNetwork } from './services/service-table.ts'
import { serviceProxyBounds } from './limits-table.ts'

export interface ServiceNetworkConfig {
  nodeName: string
  nodeAddress: string
  clusterCidr: string
  serviceCidr: string
  dnsAddress: string
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
  clock: Clock
  random: Random
  log: Logger
  health: NetworkHealth
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
  let zone: Zone | undefined
  const show = (state: ServiceState): void => {
    proxy.update(state.services, state.slices)
    zone = buildZone(state.services, state.slices, {
      domain: config.clusterDomain,
      ttlSeconds: dnsTtlSeconds,
    })
  }
  const saved = await deps.snapshot.load()
  let nodeAddresses = saved?.nodeAddresses ?? []
  proxy.setNodeAddresses([config.nodeAddress, ...nodeAddresses])
  const isOutdated = createWakeFlag()
  let isHeard = false
  if (saved !== undefined) show(presumeReady(saved))
  await using dns = await startDnsServer(
    {
      address: config.dnsAddress,
      port: 53,
      domain: config.clusterDomain,
      ttlSeconds: dnsTtlSeconds,
    },
    { zone: () => zone, forwarder: createForwarder(config.resolvers, deps), log: deps.log },
  )
  deps.log.info('Service network serves', {
    dns: `${config.dnsAddress}:${dns.port}`,
    fromSnapshot: saved !== undefined,
  })
  await runAll(signal, [
    (scope) => proxy.run(scope),
    (scope) => keepNodeNetwork(config, deps, scope),
    (scope) => {
      const snapshot = { isOutdated, nodeAddresses: () => nodeAddresses }
      return followServices(deps, { show, onHeard: () => (isHeard = true), snapshot }, scope)
    },
    async (scope) => {
      while (saved !== undefined && !isHeard) {
        show(withLocalAddresses(presumeReady(saved), deps.podAddress))
        await deps.clock.sleep(localPodsMs, scope)
      }
    },
    (scope) => {
      const onAddresses = (addresses: readonly string[]): void => {
        // Nodes change with every heartbeat, their addresses rarely.
        if (addresses.join() === nodeAddresses.join()) return
        nodeAddresses = addresses
        proxy.setNodeAddresses([config.nodeAddress, ...addresses])
        isOutdated.raise()
      }
      return followNodes(config, { ...deps, proxy, onAddresses }, scope)
    },
    (scope) => deps.policies.run(scope),
  ])
}

function createProxy(config: ServiceNetworkConfig, deps: ServiceNetworkDeps): ServiceProxy {
  return createServiceProxy({ nodeName: config.nodeName, network: networkOf(config) }, deps)
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

interface ServicesHeard {
  readonly show: (state: ServiceState) => void
  readonly onHeard: () => void
  readonly snapshot: { isOutdated: WakeFlag; nodeAddresses: () => readonly string[] }
}

async function followServices(
  deps: ServiceNetworkDeps,
  { show, onHeard, snapshot }: ServicesHeard,
  signal: AbortSignal,
): Promise<void> {
  const services = createInformer<Service>(
    deps.cluster.resource(resources.services),
    { transform: slim },
    deps,
  )
  const slices = createInformer<EndpointSlice>(
    deps.cluster.resource(resources.endpointSlices),
    { transform: slim },
    deps,
  )
  services.onChange(snapshot.isOutdated.raise)
  slices.onChange(snapshot.isOutdated.raise)
  const state = (): ServiceState => ({ services: services.list(), slices: slices.list() })
  await runAll(signal, [
    (scope) => services.run(scope),
    (scope) => slices.run(scope),
    async (scope) => {
      // Until both are complete, a service without its endpoints would refuse connections.
      await Promise.all([services.whenSynced(scope), slices.whenSynced(scope)])
      onHeard()
      show(state())
      const onChange = (): void => show(state())
      using _services = services.onChange(onChangeSoon(onChange))
      using _slices = slices.onChange(onChangeSoon(onChange))
      for (;;) {
        await snapshot.isOutdated.wait(scope)
        await deps.clock.sleep(snapshotSettleMs, scope)
        await deps.snapshot.save({ ...state(), nodeAddresses: snapshot.nodeAddresses() })
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
  readonly onAddresses: (addresses: readonly string[]) => void
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
      const sayRefused = createRefusals(deps.log)
      nodes.onChange(() => (wanted = undefined))
      for (;;) {
        using _timer = deps.clock.setTimer(routesCheckMs, dirty.raise)
        await dirty.wait(scope)
        await deps.clock.sleep(routesSettleMs, scope)
        if (wanted !== undefined && (await haveRoutes(wanted))) continue
        wanted = await followOnce(config, { ...deps, nodes, sayRefused }, scope)
      }
    },
  ])
}

/** Logs each refusal once for as long as it lasts, because nodes are planned again with every heartbeat. */
function createRefusals(log: Logger): (refused: PodNetworkPlan['refused']) => void {
  let said = new Set<string>()
  return (refused) => {
    const now = new Set<string>()
    for (const { node, podCidr, reason } of refused) {
      const key = `${node} ${podCidr} ${reason}`
      now.add(key)
      if (!said.has(key)) log.error('Pod range of a node not routed', { node, podCidr, reason })
    }
    said = now
  }
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
  deps.onAddresses(nodeAddressesOf(all))
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

function nodeAddressesOf(nodes: readonly Node[]): string[] {
  const all = nodes.flatMap(({ status }) => status?.addresses ?? [])
  return all.map(({ address }) => address).toSorted()
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

function slimNode(node: Node): Node {
  return {
    ...slim(node),
    spec: { podCIDR: node.spec?.podCIDR },
    status: { addresses: node.status?.addresses },
  }
}
