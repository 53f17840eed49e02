import { join } from 'node:path'
import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { placeOf, type PlaceFlags } from '../../roles/agent/place-options.ts'
import type { EtcdFlags } from '../../roles/control-plane/etcd-options.ts'
import type { KindFlags } from '../../roles/control-plane/served-kinds.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import type { TracingFlags } from '../../roles/runtime/tracing-options.ts'
import type { WayFlags } from '../../roles/runtime/way-options.ts'
import type { SiteOptions } from '../../roles/site/site.ts'
import { accessOptionsOf, withAccessOptions, type AccessFlags } from '../flags/access-flags.ts'
import {
  dialsOf,
  policyOf,
  withAllowedDials,
  withAllowedServices,
  withPlaceOptions,
  withPolicyOptions,
  withWayOptions,
  type AllowedDialsFlags,
  type AllowedServicesFlags,
  type PolicyFlags,
} from '../flags/agent-flags.ts'
import {
  withEtcdOptions,
  withKindOptions,
  withTracingOptions,
} from '../flags/control-plane-flags.ts'
import {
  embeddedEtcdOf,
  withEmbeddedEtcdOptions,
  type EmbeddedEtcdFlags,
} from '../flags/embedded-etcd-flags.ts'
import {
  machineProgramsOf,
  withMachinePrograms,
  type MachineProgramFlags,
} from '../flags/machine-program-flags.ts'
import { neighboursOption } from '../flags/node-flags.ts'
import { collect, example, role, toPort } from '../flags/option-values.ts'
import { withNetworkOptions, type SiteNetworkFlags } from '../flags/site-network-flags.ts'
import { packageDirectoriesOf, withPackages, type PackageFlags } from '../flags/package-flags.ts'
import {
  edgeAppsOf,
  frontProxyOf,
  servedEtcdOf,
  toEndpoint,
  withEdgeOptions,
  withFrontProxyOptions,
  withServedEtcd,
  type FrontProxyFlags,
  type ServedEtcdFlags,
  type SiteEdgeAppsFlags,
} from '../flags/site-flags.ts'
import { addMemberCommands } from './site-member-commands.ts'

const siteDataDirectory = `${dataDirectoryDefault}/site`

const siteExamples: readonly string[] = [
  'skerry site --name branch-7 --data-dir /var/lib/skerry/site',
  'skerry site --etcd embedded --advertise-address 10.0.0.5',
  'skerry site --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379',
]

/** Adds the role of an edge: a control plane, and the commands for the members of its etcd. */
export function addSiteCommands(program: Command): void {
  const site = withAllowedServices(
    withPlaceOptions(
      withWayOptions(
        withAccessOptions(withPolicyOptions(withTracingOptions(role(program.command('site'))))),
      ),
    ),
  )
  addMemberCommands(
    withEdgeOptions(
      withServedEtcd(withEmbeddedEtcdOptions(withFrontProxyOptions(withNetworkOptions(site)))),
    ),
  )
  withPackages(
    withMachinePrograms(withKindOptions(withEtcdOptions(withAllowedDials(site), '/skerry/site'))),
  )
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
    .option('--disable-controller-manager', 'run no controllers: others act on this API server')
    .option('--disable-scheduler', 'run no scheduler')
    .option(
      '--manifests-dir <path>',
      'keep the objects of the manifests in this directory in the cluster (default: manifests/ in the data directory)',
    )
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
    .addOption(neighboursOption('nodes with the same value of it vote about which of them is dead'))
    .option('--hub <url>', 'connect to this hub, under the name of this cluster')
    .option('--hub-token-file <path>', 'file with the registration token; only to register')
    .option('--hub-ca-hash <hash>', 'sha256:<hex> of the hub; only to register')
    .option('--apply-works', 'apply the Works that the hub has for this cluster')
    .option('--virtual-clusters', 'present groups of its nodes as clusters of their own on the hub')
    .addHelpText('after', example(...siteExamples))
    .action(async (options: SiteFlags) => {
      const { runSite } = await import('../../roles/site/site.ts')
      const machines = {
        programs: await machineProgramsOf(options),
        packages: await packageDirectoriesOf(options),
      }
      const siteOptions = { ...siteOptionsOf(options), machines }
      await runRole('site', options.logLevel, (context) => runSite(siteOptions, context), options)
    })
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
    access: { ...accessOptionsOf(flags), nodeReturnGraceMs: flags.nodeReturnGrace },
    served: flags,
    servedEtcd: servedEtcdOf(flags, dataDir),
    control: {
      controllers: {
        isDisabled: flags.disableControllerManager,
        neighboursBy: flags.neighboursBy,
      },
      edgeApps: edgeAppsOf(flags),
      scheduler: { isDisabled: flags.disableScheduler, configFile: flags.schedulerConfig },
      manifestsDirectory: flags.manifestsDir ?? join(dataDir, 'manifests'),
    },
    aggregation: {
      frontProxy: frontProxyOf(flags),
      metricsApi: { isDisabled: flags.disableMetricsApi },
    },
    ...(flags.hub === undefined ? {} : { agent: agentOf(flags, flags.hub) }),
  }
}

function agentOf(flags: SiteFlags, hub: string): NonNullable<SiteOptions['agent']> {
  const { hubTokenFile, hubCaHash, allowService: services } = flags
  const { applyWorks: appliesWorks, virtualClusters: hasVirtualClusters } = flags
  const duties = { services, dials: dialsOf(flags), appliesWorks, hasVirtualClusters }
  const limits = { policy: policyOf(flags), place: placeOf(flags) }
  return { hub, way: flags, hubTokenFile, hubCaHash, ...duties, ...limits }
}

interface NodeReturnFlags {
  nodeReturnGrace: number | undefined
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
    SiteNetworkFlags,
    NodeReturnFlags,
    PartFlags,
    SiteEdgeAppsFlags,
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
    PackageFlags,
    TracingFlags {
  dataDir: string
  name: string
  newStore: boolean | undefined
  manifestsDir: string | undefined
  neighboursBy: string | undefined
  logLevel: LogLevel
}
