import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import type { EtcdFlags } from '../../roles/control-plane/etcd-options.ts'
import type { FrontProxyOptions } from '../../roles/control-plane/front-proxy.ts'
import type { KindFlags } from '../../roles/control-plane/served-kinds.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { defaultNodeName } from '../../roles/runtime/host-addresses.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import type { NodeOptions } from '../../roles/node/node.ts'
import type { TracingFlags } from '../../roles/runtime/tracing-options.ts'
import type { SiteOptions } from '../../roles/site/site.ts'
import type { WayFlags } from '../../roles/runtime/way-options.ts'
import { accessOptionsOf, withAccessOptions, type AccessFlags } from '../flags/access-flags.ts'
import { dialsOf, withAllowedDials, type AllowedDialsFlags } from '../flags/allowed-dials.ts'
import { withAllowedServices, type AllowedServicesFlags } from '../flags/allowed-services.ts'
import {
  embeddedEtcdOf,
  withEmbeddedEtcdOptions,
  type EmbeddedEtcdFlags,
} from '../flags/embedded-etcd-flags.ts'
import { withEdgeApps, type EdgeAppsFlags } from '../flags/edge-apps-flags.ts'
import { withEtcdOptions } from '../flags/etcd-flags.ts'
import { withKindOptions } from '../flags/kind-flags.ts'
import {
  machineProgramsOf,
  withMachinePrograms,
  type MachineProgramFlags,
} from '../flags/machine-program-flags.ts'
import { toEndpoint } from '../flags/masters-flags.ts'
import { placeOf, withPlaceOptions, type PlaceFlags } from '../flags/place-flags.ts'
import { policyOf, withPolicyOptions, type PolicyFlags } from '../flags/policy-flags.ts'
import { servedEtcdOf, withServedEtcd, type ServedEtcdFlags } from '../flags/served-etcd-flags.ts'
import { collectTaint, type TaintFlag } from '../flags/taint-flags.ts'
import { withTracingOptions } from '../flags/tracing-flags.ts'
import { withWayOptions } from '../flags/way-flags.ts'
import { collect, example, role, toPods, toPort } from '../flags/option-values.ts'
import { addMemberCommands } from './member-commands.ts'

const siteDataDirectory = `${dataDirectoryDefault}/site`

const siteExamples: readonly string[] = [
  'skerry site --name branch-7 --data-dir /var/lib/skerry/site',
  'skerry site --etcd embedded --advertise-address 10.0.0.5',
  'skerry site --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379',
]

/** The roles: programs that serve until they are stopped. */
export function addRoleCommands(program: Command): void {
  addSite(program)
  addNode(program)
}

function addSite(program: Command): void {
  const site = withAllowedServices(
    withPlaceOptions(
      withWayOptions(
        withAccessOptions(withPolicyOptions(withTracingOptions(role(program.command('site'))))),
      ),
    ),
  )
  addMemberCommands(
    withEdgeApps(withServedEtcd(withEmbeddedEtcdOptions(withFrontProxyOptions(site)))),
  )
  withMachinePrograms(withKindOptions(withEtcdOptions(withAllowedDials(site), '/skerry/site')))
    .description('Run a whole Kubernetes control plane: API server, store, scheduler, controllers')
    .option('--data-dir <path>', 'directory for its state', siteDataDirectory)
    .option(
      '--new-store',
      'start with an empty store if the store that belongs to pki/ is missing or empty',
    )
    .option('--name <name>', 'the name of this cluster', 'site')
    .option('--bind-address <ip>', 'listen on this address', '0.0.0.0')
    .option('--port <number>', 'port of the API', toPort, 6443)
    .option('--san <name>', 'another name or address that clients use (repeatable)', collect, [])
    .option('--cluster-cidr <range>', 'addresses of pods', '10.42.0.0/16')
    .option('--service-cidr <range>', 'addresses of services', '10.43.0.0/16')
    .option('--cluster-domain <name>', 'DNS domain of the cluster', 'cluster.local')
    .option(
      '--node-cidr-mask-size <bits>',
      "bits of each node's part of --cluster-cidr",
      toMask,
      24,
    )
    .option('--disable-controller-manager', 'run no controllers: others act on this API server')
    .option('--disable-scheduler', 'run no scheduler')
    .option('--scheduler-config <file>', 'KubeSchedulerConfiguration: profiles, plugins, backoff')
    .option(
      '--disable-metrics-api',
      'do not serve metrics.k8s.io, e.g. because a metrics-server does',
    )
    .option(
      '--replica-key-file <path>',
      "copy of another master's pki/replica.key; needed only for the first start next to other masters",
    )
    .option(
      '--advertise-address <ip>',
      'IPv4 address at which nodes and pods reach this master (default: its first address)',
    )
    .option(
      '--control-plane-endpoint <host[:port]>',
      'virtual IP or balancer before the masters, which commands name to nodes and users',
      toEndpoint,
    )
    .option('--hub <url>', 'connect to this hub, under the name of this cluster')
    .option('--hub-token-file <path>', 'file with the registration token; only to register')
    .option('--hub-ca-hash <hash>', 'sha256:<hex> of the hub; only to register')
    .option('--apply-works', 'apply the Works that the hub has for this cluster')
    .option('--virtual-clusters', 'present groups of its nodes as clusters of their own on the hub')
    .addHelpText('after', example(...siteExamples))
    .action(async (options: SiteFlags) => {
      const { runSite } = await import('../../roles/site/site.ts')
      const machines = { programs: await machineProgramsOf(options) }
      const siteOptions = { ...siteOptionsOf(options), machines }
      await runRole('site', options.logLevel, (context) => runSite(siteOptions, context), options)
    })
}

function withFrontProxyOptions(command: Command): Command {
  return command
    .addOption(frontProxyOption('client-ca-file <path>', 'authority of front proxies, PEM'))
    .addOption(frontProxyOption('allowed-names <names>', 'their common names', toList))
    .addOption(frontProxyOption('username-headers <names>', 'headers that name the user', toList))
    .addOption(frontProxyOption('uid-headers <names>', 'headers with the UID', toList))
    .addOption(frontProxyOption('group-headers <names>', 'headers with the groups', toList))
    .addOption(
      frontProxyOption('extra-headers-prefix <texts>', 'prefix of headers with extras', toList),
    )
}

function siteOptionsOf(flags: SiteFlags): SiteOptions {
  const { dataDir, name, bindAddress, port, san: extraSans, newStore } = flags
  const { advertiseAddress, replicaKeyFile } = flags
  return {
    dataDir,
    name,
    listening: { bindAddress, port, extraSans, advertiseAddress },
    network: flags,
    store: {
      etcd: flags,
      newStore,
      replicaKeyFile,
      embedded: embeddedEtcdOf(flags, flags.etcdServers),
    },
    access: accessOptionsOf(flags),
    served: flags,
    servedEtcd: servedEtcdOf(flags, dataDir),
    control: {
      controllers: { isDisabled: flags.disableControllerManager },
      edgeApps: { systems: flags.edgeApps },
      scheduler: { isDisabled: flags.disableScheduler, configFile: flags.schedulerConfig },
    },
    aggregation: {
      frontProxy: frontProxyOf(flags),
      metricsApi: { isDisabled: flags.disableMetricsApi },
    },
    ...(flags.hub === undefined ? {} : { agent: agentOf(flags, flags.hub) }),
  }
}

function frontProxyOf(flags: FrontProxyFlags): FrontProxyOptions {
  return {
    clientCaFile: flags.requestheaderClientCaFile,
    allowedNames: flags.requestheaderAllowedNames,
    usernameHeaders: flags.requestheaderUsernameHeaders,
    uidHeaders: flags.requestheaderUidHeaders,
    groupHeaders: flags.requestheaderGroupHeaders,
    extraHeadersPrefixes: flags.requestheaderExtraHeadersPrefix,
  }
}

function agentOf(flags: SiteFlags, hub: string): NonNullable<SiteOptions['agent']> {
  const { hubTokenFile, hubCaHash, allowService: services } = flags
  const { applyWorks: appliesWorks, virtualClusters: hasVirtualClusters } = flags
  const duties = { services, dials: dialsOf(flags), appliesWorks, hasVirtualClusters }
  const limits = { policy: policyOf(flags), place: placeOf(flags) }
  return { hub, way: flags, hubTokenFile, hubCaHash, ...duties, ...limits }
}

/**
 * Returns an option with kube-apiserver's name; without these options the site's own front proxy authority is
 * used.
 */
function frontProxyOption(
  flags: string,
  description: string,
  parse: (text: string) => unknown = (text) => text,
): Option {
  return new Option(`--requestheader-${flags}`, `front proxies: ${description}`).argParser(parse)
}

function toList(text: string): string[] {
  return text.split(',').filter((part) => part !== '')
}

function addNode(program: Command): void {
  role(program.command('node'))
    .description('Run a node: containerd, pods, service network; a token joins it to a site')
    .option('--data-dir <path>', 'directory for its state', `${dataDirectoryDefault}/node`)
    .option(
      '--run-dir <path>',
      'directory for sockets and other files that must not survive a reboot; on a tmpfs',
      '/run/skerry/node',
    )
    .option('--node-name <name>', 'its name in the cluster (default: the host name)')
    .option('--node-ip <ip>', 'its address in the cluster (default: the first interface)')
    .option(
      '--server <url>',
      'address of the control plane; only to join (repeatable: the next one is tried if one does not answer)',
      toServers,
      [],
    )
    .option('--token-file <path>', 'file with the bootstrap token; only to join')
    .option('--ca-hash <hash>', 'sha256:<hex> of the control plane; only to join')
    .option('--label <key=value>', 'label of the node (repeatable)', collect, [])
    .option(
      '--taint <key=value:effect>',
      'taint with which the node registers, once (repeatable)',
      collectTaint,
      [],
    )
    .option(
      '--reserved-address <ip>',
      'address that no service may take, such as that of the hub (repeatable)',
      toAddresses,
      [],
    )
    .option('--cluster-cidr <range>', 'addresses of pods', '10.42.0.0/16')
    .option('--service-cidr <range>', 'addresses of services', '10.43.0.0/16')
    .option('--cluster-domain <name>', 'DNS domain of the cluster', 'cluster.local')
    .option('--kubelet-port <number>', 'port for logs and exec', toPort, 10_250)
    .option('--max-pods <number>', 'pods that it runs at most', toPods, 110)
    .option(
      '--registry-dir <path>',
      "containerd's settings of registries, hosts.toml by host (default: <data-dir>/registries)",
    )
    .option('--preload-dir <path>', 'image archives imported at start (default: <data-dir>/images)')
    .option('--stop-pods', 'end the pods when the node is stopped')
    .addHelpText(
      'after',
      example('skerry node --server https://10.0.0.5:6443 --token-file token --ca-hash sha256:…'),
    )
    .action(async (options: NodeFlags) => {
      const { runNode } = await import('../../roles/node/node.ts')
      await runRole('node', options.logLevel, (context) => runNode(nodeOptionsOf(options), context))
    })
}

function nodeOptionsOf(flags: NodeFlags): NodeOptions {
  const { dataDir, runDir, nodeIp, kubeletPort, server: servers, tokenFile, caHash } = flags
  const { clusterCidr, serviceCidr, clusterDomain, reservedAddress: reservedAddresses } = flags
  return {
    dataDir,
    runDir,
    nodeName: flags.nodeName ?? defaultNodeName(),
    nodeIp,
    joining: { servers, tokenFile, caHash },
    registration: { labels: Object.fromEntries(flags.label.map(toLabel)), taints: flags.taint },
    network: { clusterCidr, serviceCidr, clusterDomain, reservedAddresses },
    kubeletPort,
    podsMax: flags.maxPods,
    preloadDir: flags.preloadDir ?? join(dataDir, 'images'),
    ...(flags.registryDir === undefined ? {} : { registryDir: flags.registryDir }),
    stopsPods: flags.stopPods === true,
  }
}

interface JoiningFlags {
  server: string[]
  tokenFile: string | undefined
  caHash: string | undefined
}

/** The ranges and the domain of a cluster, as a site and its nodes have them. */
interface NetworkFlags {
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
}

interface NodeRangeFlags {
  nodeCidrMaskSize: number
}

interface RegistrationFlags {
  label: string[]
  taint: readonly TaintFlag[]
}

interface NodeFlags extends JoiningFlags, NetworkFlags, RegistrationFlags {
  dataDir: string
  runDir: string
  nodeName: string | undefined
  nodeIp: string | undefined
  reservedAddress: string[]
  kubeletPort: number
  maxPods: number
  preloadDir: string | undefined
  registryDir: string | undefined
  stopPods: boolean | undefined
  logLevel: LogLevel
}

/** Parses the bits of a node's part; the pods of a node need at least a few addresses. */
function toMask(text: string): number {
  const bits = Number(text)
  if (Number.isInteger(bits) && bits >= 8 && bits <= 30) return bits
  throw new InvalidArgumentError('give a number from 8 to 30, e.g. 24 for 254 addresses')
}

function toServers(text: string, previous: string[]): string[] {
  if (URL.parse(text)?.protocol === 'https:') return [...previous, text]
  throw new InvalidArgumentError('give a URL like https://10.0.0.5:6443')
}

/** Parses addresses; services are served at IPv4 addresses only. */
function toAddresses(text: string, previous: string[]): string[] {
  if (isIPv4(text)) return [...previous, text]
  throw new InvalidArgumentError('give an IPv4 address, e.g. 198.51.100.7')
}

function toLabel(text: string): [string, string] {
  const [key = '', value = ''] = text.split('=')
  return [key, value]
}

interface FrontProxyFlags {
  requestheaderClientCaFile: string | undefined
  requestheaderAllowedNames: readonly string[] | undefined
  requestheaderUsernameHeaders: readonly string[] | undefined
  requestheaderUidHeaders: readonly string[] | undefined
  requestheaderGroupHeaders: readonly string[] | undefined
  requestheaderExtraHeadersPrefix: readonly string[] | undefined
}

interface ListeningFlags {
  bindAddress: string
  port: number
  san: string[]
}

/** The words for programs that run in a site's process, or do not. */
interface PartFlags {
  disableControllerManager: boolean | undefined
  disableScheduler: boolean | undefined
  disableMetricsApi: boolean | undefined
  schedulerConfig: string | undefined
}

/** The words for a site's own agent. */
interface OwnAgentFlags {
  hub: string | undefined
  hubTokenFile: string | undefined
  hubCaHash: string | undefined
  applyWorks: boolean | undefined
  virtualClusters: boolean | undefined
}

/** The words for a site with several masters. */
interface MasterFlags {
  replicaKeyFile: string | undefined
  advertiseAddress: string | undefined
  controlPlaneEndpoint: string | undefined
}

interface SiteFlags
  extends
    MasterFlags,
    EmbeddedEtcdFlags,
    ServedEtcdFlags,
    ListeningFlags,
    NetworkFlags,
    NodeRangeFlags,
    PartFlags,
    EdgeAppsFlags,
    OwnAgentFlags,
    FrontProxyFlags,
    AccessFlags,
    KindFlags,
    EtcdFlags,
    WayFlags,
    PlaceFlags,
    AllowedServicesFlags,
    AllowedDialsFlags,
    PolicyFlags,
    MachineProgramFlags,
    TracingFlags {
  dataDir: string
  name: string
  newStore: boolean | undefined
  logLevel: LogLevel
}
