import { createWakeFlag, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import type { EndpointSlice, Node, ObjectMeta, Service } from '@skerry/api'
import { createInformer, resources, type Cluster, type Informer } from '@skerry/client'
import { withLocalAddresses } from './local-endpoints.ts'
import { createForwarder } from './dns/forwarder.ts'
import { startDnsServer } from './dns/dns-server.ts'
import { buildZone, type Zone } from './dns/zone.ts'
import type { Nft } from './nft.ts'
import { prepareNodeNetwork } from './node-network.ts'
import type { NetworkPolicies } from './policy/network-policies.ts'
import { planPodNetwork, type PodNetworkPlan } from './pod-network.ts'
import { applyPodRoutes, isNeighbour } from './pod-routes.ts'
import { createServiceProxy, type ServiceProxy } from './service-proxy.ts'
import { presumeReady, type ServiceSnapshot, type ServiceState } from './service-snapshot.ts'

export interface ServiceNetworkConfig {
  nodeName: string
  nodeAddress: string
  clusterCidr: string
  serviceCidr: string
  dnsAddress: string
  /** cluster.local by default. */
  clusterDomain: string
  /** Where names outside the cluster are asked. */
  resolvers: readonly string[]
}

export interface ServiceNetworkDeps {
  cluster: Cluster
  nft: Nft
  snapshot: ServiceSnapshot
  policies: Pick<NetworkPolicies, 'run'>
  /** Where a pod of this node is now; undefined for others and before it has an address. */
  podAddress: (podUid: string) => string | undefined
  clock: Clock
  random: Random
  log: Logger
}

const dnsTtlSeconds = 5
/** Changes within this time are written to the snapshot once. */
const snapshotSettleMs = 2_000
const routesSettleMs = 200
/** How often the node's own pods are looked at while the control plane is away. */
const localPodsMs = 1_000

/**
 * Serves this node's service network until the signal aborts; rules, routes and the DNS address
 * stay behind, so that pods keep their services while this process restarts. Begins from the
 * snapshot: a node that comes up without its control plane still routes and resolves.
 */
export async function runServiceNetwork(
  config: ServiceNetworkConfig,
  deps: ServiceNetworkDeps,
  signal: AbortSignal,
): Promise<void> {
  await prepareNodeNetwork(config, deps.log)
  const proxy = createServiceProxy(
    {
      nodeName: config.nodeName,
      network: {
        clusterCidr: config.clusterCidr,
        podCidr: undefined,
        ownAddresses: [config.dnsAddress],
      },
    },
    deps,
  )
  let zone: Zone | undefined
  const show = (state: ServiceState): void => {
    proxy.update(state.services, state.slices)
    zone = buildZone(state.services, state.slices, {
      domain: config.clusterDomain,
      ttlSeconds: dnsTtlSeconds,
    })
  }
  const saved = await deps.snapshot.load()
  let isHeard = false
  if (saved !== undefined) show(presumeReady(saved))
  await using dns = await startDnsServer(
    {
      address: config.dnsAddress,
      port: 53,
      domain: config.clusterDomain,
      ttlSeconds: dnsTtlSeconds,
    },
    { zone: () => zone, forwarder: createForwarder(config.resolvers), log: deps.log },
  )
  deps.log.info('Service network serves', {
    dns: `${config.dnsAddress}:${dns.port}`,
    fromSnapshot: saved !== undefined,
  })
  await runAll(signal, [
    (scope) => proxy.run(scope),
    (scope) => followServices(deps, { show, onHeard: () => (isHeard = true) }, scope),
    async (scope) => {
      while (saved !== undefined && !isHeard) {
        show(withLocalAddresses(presumeReady(saved), deps.podAddress))
        await deps.clock.sleep(localPodsMs, scope)
      }
    },
    (scope) => followNodes(config, { ...deps, proxy }, scope),
    (scope) => deps.policies.run(scope),
  ])
}

async function followServices(
  deps: ServiceNetworkDeps,
  { show, onHeard }: { show: (state: ServiceState) => void; onHeard: () => void },
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
  const dirty = createWakeFlag()
  services.onChange(dirty.raise)
  slices.onChange(dirty.raise)
  const state = (): ServiceState => ({ services: services.list(), slices: slices.list() })
  await runAll(signal, [
    (scope) => services.run(scope),
    (scope) => slices.run(scope),
    async (scope) => {
      // Before both are whole, a service without its endpoints would look refused.
      await Promise.all([services.whenSynced(scope), slices.whenSynced(scope)])
      onHeard()
      show(state())
      const onChange = (): void => show(state())
      using _services = services.onChange(onChangeSoon(onChange))
      using _slices = slices.onChange(onChangeSoon(onChange))
      for (;;) {
        await dirty.wait(scope)
        await deps.clock.sleep(snapshotSettleMs, scope)
        await deps.snapshot.save(state())
      }
    },
  ])
}

/** One call per turn of the event loop, however many changes it brought. */
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

async function followNodes(
  config: ServiceNetworkConfig,
  deps: ServiceNetworkDeps & { proxy: ServiceProxy },
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
      for (;;) {
        await dirty.wait(scope)
        await deps.clock.sleep(routesSettleMs, scope)
        await followOnce(config, { ...deps, nodes }, scope)
      }
    },
  ])
}

async function followOnce(
  config: ServiceNetworkConfig,
  deps: ServiceNetworkDeps & { proxy: ServiceProxy; nodes: Informer<Node> },
  signal: AbortSignal,
): Promise<void> {
  const all = deps.nodes.list()
  const own = all.find((node) => node.metadata.name === config.nodeName)
  if (own?.spec?.podCIDR) deps.proxy.setPodCidr(own.spec.podCIDR)
  try {
    const plan = await planWithNeighbours(all, config.nodeName)
    await applyPodRoutes(plan, { nodeAddress: config.nodeAddress })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    deps.log.error('Routes to other nodes not set', {
      error: error instanceof Error ? error : null,
    })
  }
}

async function planWithNeighbours(
  nodes: readonly Node[],
  ownName: string,
): Promise<PodNetworkPlan> {
  const neighbours = new Set<string>()
  for (const route of planPodNetwork(nodes, ownName, () => true).routes) {
    if (await isNeighbour(route.nodeAddress)) neighbours.add(route.nodeAddress)
  }
  return planPodNetwork(nodes, ownName, (address) => neighbours.has(address))
}

/** Rules need no annotations and no history; a node with a thousand services keeps less. */
function slim<T extends { metadata: ObjectMeta }>(object: T): T {
  const { name, namespace, labels, uid, resourceVersion } = object.metadata
  return { ...object, metadata: { name, namespace, labels, uid, resourceVersion } }
}

function slimNode(node: Node): Node {
  return {
    ...slim(node),
    spec: { podCIDR: node.spec?.podCIDR },
    status: { addresses: node.status?.addresses },
  }
}
