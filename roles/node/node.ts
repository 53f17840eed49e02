import { mkdir } from 'node:fs/promises'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { runAll, type Task } from '@skerry/base'
import type { CertificateAndKey, CertificateHolder, NodeIdentity } from '@skerry/bootstrap'
import { createCluster, type ClusterClient } from '@skerry/client'
import {
  createCallerCheck,
  dialContainerd,
  endForgottenShims,
  ensurePauseImage,
  runKubelet,
  runLocalPathVolumes,
  runLogRotation,
  startKubeletServer,
  superviseContainerd,
  type ContainerRuntime,
  type KubeletServer,
  type RunningKubelet,
  type ServerTls,
  type SupervisedContainerd,
} from '@skerry/kubelet'
import type { KeptScope } from '@skerry/node-api'
import { standInToken } from '@skerry/pki'
import {
  NetworkHealth,
  createNetworkPolicies,
  createNft,
  fileSnapshot,
  nodeResolvers,
  policySnapshot,
  runServiceNetwork,
  type NetworkPolicies,
} from '@skerry/service-proxy'
import { openDataDirectory } from '../runtime/data-directory.ts'
import { addressOf } from '../runtime/host-addresses.ts'
import { MachineAddress } from '../runtime/machine-address.ts'
import { openNodeIdentity, pkiDirectory } from '../runtime/node-identity.ts'
import { followApiServers } from '../runtime/follow-api-servers.ts'
import { reportReady, type RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { createNodePorts, type NodePorts } from './balancing.ts'
import { certificateAnnotations } from './certificate-annotations.ts'
import { cniPluginDirectory, containerdOptions, proxyMark } from './node-containerd.ts'
import { keepServing } from './keep-serving.ts'
import { openMachineTime } from './machine-time.ts'
import { takeNextIdentity } from './next-identity.ts'
import { createNodeNeighbours, noLeaseNotes, type NodeNeighbours } from './neighbours.ts'
import { importPreloaded } from './preload-images.ts'
import { runningLogs } from './running-logs.ts'

export interface NodeOptions {
  dataDir: string
  runDir: string
  nodeName: string
  nodeIp: string | undefined
  /** Used only for joining the first time; afterwards the node's own certificate is used. */
  joining: JoiningOptions
  registration: NodeRegistration
  network: NodeNetworkOptions
  kubeletPort: number
  /** The pods that it runs at most. */
  podsMax: number
  /** The directory of archives that are imported at the start. */
  preloadDir: string
  /** The directory of containerd's settings of registries. If omitted, one in the data directory. */
  registryDir?: string
  /** Whether stopping the node ends its pods, too. */
  stopsPods: boolean
}

export interface NodeLocalApi {
  /** A link-local address. */
  address: string
  port: number
  /** The parts of the API that are copied before anybody asks for them. */
  kept: readonly KeptScope[]
}

export interface NodeRegistration {
  labels: Readonly<Record<string, string>>
  /** The taints with which the node registers; a node that is registered already keeps its own. */
  taints: readonly { key: string; value?: string; effect: string }[]
}

export interface JoiningOptions {
  servers: readonly string[]
  tokenFile: string | undefined
  caHash: string | undefined
}

export interface NodeNetworkOptions {
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
  /** Addresses that no service takes. */
  reservedAddresses: readonly string[]
  /** The API that the node serves to its pods. If omitted, they ask the control plane. */
  localApi?: NodeLocalApi | undefined
  /** The label whose value names the group of nodes that watch each other. If omitted, the node watches nobody. */
  neighboursBy?: string | undefined
}

/**
 * Runs one node until the signal aborts; its pods continue unless requested otherwise. `onIdentity` is called when the node has
 * taken an identity that was prepared for it, or has refused it.
 */
export async function runNode(
  options: NodeOptions,
  context: RoleContext,
  onIdentity?: () => void,
): Promise<void> {
  await openDataDirectory(options.dataDir)
  const address = new MachineAddress(options.nodeIp, context)
  await mkdir(options.runDir, { recursive: true, mode: 0o711 })
  const { log, signal } = context
  await using time = await openMachineTime(options, context)
  const containerd = await startContainerd(options, context)
  const { socket } = containerd
  await using runtime = dialContainerd(socket)
  const prepare = (): Promise<void> => prepareRuntime(options, { runtime, socket }, context)
  await prepare()
  await takeNextIdentity(options, context)
  onIdentity?.()
  const identity = await openNodeIdentity({ ...options, ...options.joining }, context)
  const cluster = clusterOf(identity, context)
  const neighbours = neighboursFor(options, { ...context, identity })
  let running: RunningKubelet | undefined
  const ports = createNodePorts(() => running)
  const given = { options, address, cluster, runtime, identity }
  const parts: NodeParts = { ...given, neighbours, ports, held: {} }
  const policies = networkPolicies(options, { ...context, cluster })
  const health = new NetworkHealth()
  const { isAdopted: adopted } = containerd
  log.info('Node starts', { node: options.nodeName, address: address.current, adopted })
  const kubelet = Promise.withResolvers<RunningKubelet>()
  using _moves = address.onChange(onMove(identity, () => running))
  const podAddress = (uid: string): string | undefined =>
    running?.pods.list().find((pod) => pod.metadata.uid === uid)?.status?.podIP
  await runAll(signal, [
    (scope) => containerd.keepRunning(scope, prepare),
    (scope) => time.run(scope),
    (scope) => address.run(scope),
    (scope) => identity.client.run(scope),
    (scope) =>
      followApiServers({ ...identity, cluster, directory: pkiDirectory(options) }, context, scope),
    (scope) =>
      runKubelet(
        kubeletConfig(parts),
        {
          ...context,
          cluster,
          runtime,
          isolation: policies,
          notes: notesOf(parts, { time, health }),
          standIn: standInFor(options, identity, context),
          onReady: (ready) => {
            running = ready
            kubelet.resolve(ready)
            reportReady()
          },
        },
        scope,
      ),
    async (scope) => serveKubelet(await kubelet.promise, { ...parts, context }, scope),
    async (scope) => neighbours?.run(scope),
    async (scope) => localApi(await kubelet.promise, { ...parts, context }, scope),
    async (scope) => serviceNetwork({ ...parts, podAddress, policies, health }, context, scope),
    ...diskTasks(parts, context),
  ]).finally(() => (options.stopsPods ? containerd.stop() : undefined))
}

/** Returns what the node writes about itself, in addition to the kubelet's own facts. */
function notesOf(
  { identity, held, ports, neighbours }: NodeParts,
  { time, health }: { time: { fault(): string | undefined }; health: NetworkHealth },
): Parameters<typeof runKubelet>[1]['notes'] {
  return {
    networkProblems: () => health.problems(),
    annotations: () => ({
      ...certificateAnnotations(identity.client, held.serving),
      ...ports.annotations(),
    }),
    lease: neighbours?.leaseNotes ?? noLeaseNotes,
    clockFault: () => time.fault(),
  }
}

/** Returns the reaction to another address of the machine. Parts that it does not name read the address when they need it. */
function onMove(identity: NodeIdentity, running: () => RunningKubelet | undefined): () => void {
  return () => {
    identity.servers.reconnect()
    running()?.readdress()
  }
}

/** Signs tokens of pods in the place of those that end while the control plane is away. */
function standInFor(
  { nodeName }: Pick<NodeOptions, 'nodeName'>,
  { client }: NodeIdentity,
  { clock }: Pick<RoleContext, 'clock'>,
): NonNullable<Parameters<typeof runKubelet>[1]['standIn']> {
  return (token) => standInToken(token, { nodeName, ...client.current }, clock.now())
}

interface NodeParts {
  options: NodeOptions
  address: MachineAddress
  cluster: ClusterClient
  runtime: ContainerRuntime
  identity: NodeIdentity
  /** Undefined if the node watches nobody. */
  neighbours: NodeNeighbours | undefined
  ports: NodePorts
  /** Has the serving certificate as soon as the control plane has issued it. */
  readonly held: { serving?: CertificateHolder }
}

function neighboursFor(
  { nodeName, dataDir, network }: NodeOptions,
  deps: RoleContext & { identity: NodeIdentity },
): NodeNeighbours | undefined {
  const { neighboursBy: label } = network
  return label === undefined ? undefined : createNodeNeighbours({ nodeName, dataDir, label }, deps)
}

function startContainerd(
  options: NodeOptions,
  { clock, log, signal }: RoleContext,
): Promise<SupervisedContainerd> {
  const { dataDir, runDir, registryDir } = options
  const environment = proxyMark(process.env)
  return superviseContainerd(
    {
      ...containerdOptions(dataDir, runDir),
      ...(registryDir === undefined ? {} : { registryDirectory: registryDir }),
      ...(environment === undefined ? {} : { environment }),
    },
    { clock, log },
    signal,
  )
}

/** Prepares a containerd that is new, or has lost its directories. */
async function prepareRuntime(
  options: NodeOptions,
  { runtime, socket }: { runtime: ContainerRuntime; socket: string },
  context: RoleContext,
): Promise<void> {
  const target = { socket, rootDirectory: join(options.dataDir, 'containerd') }
  await endForgottenShims(runtime, socket, context.signal)
  await ensurePauseImage(runtime, target, context.signal)
  await importPreloaded(options.preloadDir, target, context)
}

function clusterOf(identity: NodeIdentity, { clock, log }: RoleContext): ClusterClient {
  return createCluster(identity.open(), { clock, log, userAgent: `skerry-node/${version}` })
}

function kubeletConfig({ options, address }: NodeParts): Parameters<typeof runKubelet>[0] {
  return {
    nodeName: options.nodeName,
    nodeIps: () => [address.current],
    network: {
      clusterDns: [addressOf(options.network.serviceCidr, 10)],
      clusterDomain: options.network.clusterDomain,
      cniConfDirectory: join(options.runDir, 'cni'),
      cniPluginDirectory: cniPluginDirectory(options.dataDir),
      podBridge: 'skerry0',
      api: options.network.localApi && {
        host: options.network.localApi.address,
        port: options.network.localApi.port,
      },
    },
    dataDirectory: join(options.dataDir, 'kubelet'),
    runDirectory: join(options.runDir, 'kubelet'),
    logDirectory: join(options.dataDir, 'logs'),
    staticPodDirectory: join(options.dataDir, 'manifests'),
    registration: {
      ...options.registration,
      port: options.kubeletPort,
      podsMax: options.podsMax,
    },
    stopsPodsOnExit: options.stopsPods,
    images: { directory: join(options.dataDir, 'containerd') },
  }
}

/** Serves logs, exec and port-forward, as soon as the control plane has issued the serving certificate. */
async function serveKubelet(
  kubelet: RunningKubelet,
  parts: NodeParts & { context: RoleContext },
  signal: AbortSignal,
): Promise<void> {
  const { options, address, cluster, identity, neighbours, held, context } = parts
  const { nodeName, kubeletPort } = options
  await using stack = new AsyncDisposableStack()
  const tlsOf = (pair: CertificateAndKey): ServerTls => ({
    cert: pair.certificatePem,
    key: pair.privateKeyPem,
    clientCa: identity.info.authorityPem,
  })
  const start = (tls: ServerTls): Promise<KubeletServer> =>
    startKubeletServer(
      { address: '0.0.0.0', port: kubeletPort, tls },
      {
        ...context,
        pods: kubelet.pods,
        runtime: kubelet.runtime,
        callers: createCallerCheck(nodeName, { cluster, clock: context.clock }),
        neighbours: neighbours?.answers,
        stats: {
          nodeName,
          dataDirectory: options.dataDir,
          startedMs: context.clock.now() - uptime() * 1000,
        },
      },
      signal,
    )
  let server: KubeletServer | undefined
  const use = async (pair: CertificateAndKey): Promise<void> => {
    if (server) return server.setTls(tlsOf(pair))
    server = stack.use(await start(tlsOf(pair)))
    context.log.info('Node serves', { node: nodeName, port: server.port })
  }
  const onHolder = (serving: CertificateHolder): void => void (held.serving = serving)
  const directory = pkiDirectory(options)
  const kept = { identity, nodeName, directory, address }
  await keepServing(kept, { onHolder, use }, context, signal)
}

/** Loaded only where it is wanted: it brings the kinds of the whole API. */
async function localApi(
  kubelet: RunningKubelet,
  { options, identity, address, context }: NodeParts & { context: RoleContext },
  signal: AbortSignal,
): Promise<void> {
  if (options.network.localApi === undefined) return
  const { serveLocalApi } = await import('./local-api.ts')
  const { nodeName, dataDir } = options
  const api = { ...options.network.localApi, nodeName, dataDir }
  await serveLocalApi(api, { ...context, identity, kubelet, address }, signal)
}

async function serviceNetwork(
  parts: NodeParts & {
    podAddress: (podUid: string) => string | undefined
    policies: NetworkPolicies
    health: NetworkHealth
  },
  context: RoleContext,
  signal: AbortSignal,
): Promise<void> {
  const { options, address, cluster, neighbours, ports, podAddress, policies, health } = parts
  const dnsAddress = addressOf(options.network.serviceCidr, 10)
  await runServiceNetwork(
    {
      nodeName: options.nodeName,
      get nodeAddress() {
        return address.current
      },
      clusterCidr: options.network.clusterCidr,
      serviceCidr: options.network.serviceCidr,
      dnsAddress,
      localAddresses: options.network.localApi ? [options.network.localApi.address] : [],
      clusterDomain: options.network.clusterDomain,
      resolvers: await nodeResolvers([dnsAddress]),
      reservedAddresses: options.network.reservedAddresses,
    },
    {
      ...context,
      cluster,
      nft: createNft(),
      snapshot: fileSnapshot(join(options.dataDir, 'service-network.json')),
      podAddress,
      neighbours: neighbours?.watch,
      balancing: ports,
      policies,
      health,
    },
    signal,
  )
}

function networkPolicies(
  { nodeName, dataDir }: NodeOptions,
  deps: RoleContext & { cluster: ClusterClient },
): NetworkPolicies {
  const snapshot = policySnapshot(join(dataDir, 'network-policies.json'))
  return createNetworkPolicies(nodeName, { ...deps, nft: createNft(), snapshot })
}

/** Makes volumes, and rotates logs. */
function diskTasks({ options, cluster, runtime }: NodeParts, context: RoleContext): Task[] {
  const { clock, log } = context
  const directory = join(options.dataDir, 'logs')
  return [
    (scope) =>
      runLocalPathVolumes(
        { nodeName: options.nodeName, directory: join(options.dataDir, 'volumes') },
        { ...context, cluster },
        scope,
      ),
    (scope) =>
      runLogRotation(
        {
          runningLogs: (signal) => runningLogs(runtime, directory, signal),
          reopen: (id, signal) => runtime.reopenContainerLog(id, signal),
          clock,
          log,
        },
        scope,
      ),
  ]
}
