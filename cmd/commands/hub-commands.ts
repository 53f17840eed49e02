import { join } from 'node:path'
import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import { withHubFlags, type ChosenHub } from '../../roles/admin/chosen-hub.ts'
import type { MetricsAddress } from '../../roles/agent/agent-metrics-server.ts'
import { toClusterDomain } from '../../roles/control-plane/cluster-domain.ts'
import type { EtcdFlags } from '../../roles/control-plane/etcd-options.ts'
import type { KindFlags } from '../../roles/control-plane/served-kinds.ts'
import type { HubOptions } from '../../roles/hub/hub.ts'
import type { LoginFlags } from '../../roles/hub/contract/login-flags.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { runRole } from '../../roles/runtime/role-context.ts'
import type { TracingFlags } from '../../roles/runtime/tracing-options.ts'
import type { WayFlags } from '../../roles/runtime/way-options.ts'
import { accessOptionsOf, withAccessOptions, type AccessFlags } from '../flags/access-flags.ts'
import { dialsOf, withAllowedDials, type AllowedDialsFlags } from '../flags/allowed-dials.ts'
import { withAllowedServices, type AllowedServicesFlags } from '../flags/allowed-services.ts'
import { withEtcdOptions } from '../flags/etcd-flags.ts'
import { withKindOptions } from '../flags/kind-flags.ts'
import { withLoginOptions } from '../flags/login-flags.ts'
import {
  machineProgramsOf,
  withMachinePrograms,
  type MachineProgramFlags,
} from '../flags/machine-program-flags.ts'
import {
  packageDirectoriesOf,
  withHubPackages,
  type HubPackageFlags,
} from '../flags/package-flags.ts'
import { placeOf, withPlaceOptions, type PlaceFlags } from '../flags/place-flags.ts'
import { policyOf, withPolicyOptions, type PolicyFlags } from '../flags/policy-flags.ts'
import {
  proxiesOf,
  withProxyProtocol,
  type ProxyProtocolFlags,
} from '../flags/proxy-protocol-flags.ts'
import {
  registrationRulesOf,
  withRegistrationOptions,
  type RegistrationFlags,
} from '../flags/registration-flags.ts'
import { withTracingOptions } from '../flags/tracing-flags.ts'
import { withWayOptions } from '../flags/way-flags.ts'
import { addClusterViews } from './cluster-view-commands.ts'
import { addKarmadaManifest } from './karmada-commands.ts'
import { addLeave } from './leave-commands.ts'
import { addRegistrationCommands } from './registration-commands.ts'
import { collect, example, role, toHostPort, toJson, toPort } from '../flags/option-values.ts'

const hubDirectory = join(dataDirectoryDefault, 'hub')

/** The cloud side: the hub itself, the agent that dials it, and the clusters that have registered. */
export function addHubCommands(program: Command): void {
  addHub(program)
  addAgent(program)
  const cluster = program.command('cluster').description('Manage the clusters of a hub')
  addRegistrationCommands(cluster)
  addClusterViews(cluster)
  addRevoke(cluster)
  addLeave(cluster)
  addKarmadaManifest(onHub(cluster.command('karmada-manifest')))
}

interface ReplicaFlags {
  advertiseAddress: string | undefined
  replicaKeyFile: string | undefined
}

interface PropagationFlags {
  failover: boolean | undefined
  allowAnyOverride: boolean | undefined
  allowForeignDependencies: boolean | undefined
}

interface HubFlags
  extends
    ReplicaFlags,
    PropagationFlags,
    AccessFlags,
    KindFlags,
    EtcdFlags,
    RegistrationFlags,
    LoginFlags,
    MachineProgramFlags,
    HubPackageFlags,
    TracingFlags,
    ProxyProtocolFlags {
  dataDir: string
  bindAddress: string
  port: number
  san: string[]
  clusterDomain: string | undefined
  allowInspectedTls: boolean | undefined
  newStore: boolean | undefined
  push: boolean | undefined
  logLevel: LogLevel
}

function addHub(program: Command): void {
  const hub = withRegistrationOptions(
    withAccessOptions(withTracingOptions(withProxyProtocol(role(program.command('hub'))))),
  )
  const withMachines = withHubPackages(withMachinePrograms(withLoginOptions(hub)))
  withKindOptions(withEtcdOptions(withMachines, '/skerry/hub'))
    .description('Run the hub: the API of the fleet, and access to every cluster in it')
    .option('--data-dir <path>', 'directory for its state', hubDirectory)
    .option(
      '--new-store',
      'start with an empty store if the store that belongs to pki/ is missing or empty',
    )
    .option('--bind-address <ip>', 'listen on this address', '0.0.0.0')
    .option('--port <number>', 'port for users and agents', toPort, 7443)
    .option('--san <name>', 'another name or address that clients use (repeatable)', collect, [])
    .option(
      '--cluster-domain <domain>',
      'also serve each cluster at https://<cluster>.<domain>, for clients that accept no path',
      toClusterDomain,
    )
    .option(
      '--allow-inspected-tls',
      'accept agents inside a WebSocket, past boxes that open TLS (skerry agent --inspected-tls)',
    )
    .option(
      '--failover',
      'move objects away from clusters whose taints they do not tolerate, or where they stay unhealthy',
    )
    .option(
      '--push',
      'dial clusters in push mode (karmadactl join) at the addresses that their Cluster objects name',
    )
    .option(
      '--allow-any-override',
      "let OverridePolicies change an object's identity, the rights it grants and the limits it sets",
    )
    .option(
      '--allow-foreign-dependencies',
      'let propagateDeps include objects of other namespaces that an interpreter names',
    )
    .option(
      '--replica-key-file <path>',
      "copy of another replica's pki/replica.key; needed only for the first start next to other replicas",
    )
    .option(
      '--advertise-address <ip>',
      'address at which other replicas on the same etcd reach this one (default: its first address)',
    )
    .addHelpText(
      'after',
      example(
        'skerry hub --san hub.example.com --port 443',
        'skerry hub --san hub.example.com --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379',
      ),
    )
    .action(async (options: HubFlags) => {
      const { runHub } = await import('../../roles/hub/hub.ts')
      const hubOptions = await hubOptionsOf(options)
      await runRole('hub', options.logLevel, (context) => runHub(hubOptions, context), options)
    })
}

async function hubOptionsOf(flags: HubFlags): Promise<HubOptions> {
  const { dataDir, bindAddress, port, san: extraSans, clusterDomain, newStore, failover } = flags
  const rules = {
    anyOverride: flags.allowAnyOverride === true,
    foreignDependencies: flags.allowForeignDependencies === true,
  }
  return {
    dataDir,
    listening: { bindAddress, port, extraSans, clusterDomain, proxies: await proxiesOf(flags) },
    store: { etcd: flags, newStore },
    access: accessOptionsOf(flags),
    served: flags,
    registration: registrationRulesOf(flags),
    carrier: { allowInspectedTls: flags.allowInspectedTls },
    login: flags,
    push: { isOn: flags.push },
    fleet: { failover, rules },
    replicas: flags,
    machines: {
      programs: await machineProgramsOf(flags),
      packages: await packageDirectoriesOf(flags),
    },
  }
}

/** The words for the way of an agent to its hub, or to a Karmada in place of one. */
interface ParentFlags {
  hub: string | undefined
  karmada: string | undefined
  karmadaKubeconfig: string | undefined
  tokenFile: string | undefined
  caHash: string | undefined
}

/** The words for the cluster that an agent connects. */
interface EdgeFlags {
  kubeconfig: string | undefined
  context: string | undefined
  identitySecret: string | undefined
}

interface AgentFlags
  extends
    ParentFlags,
    EdgeFlags,
    WayFlags,
    PlaceFlags,
    AllowedServicesFlags,
    AllowedDialsFlags,
    PolicyFlags,
    TracingFlags {
  dataDir: string
  name: string
  probePort: number | undefined
  applyWorks: boolean | undefined
  virtualClusters: boolean | undefined
  metricsBindAddress: MetricsAddress | undefined
  logLevel: LogLevel
}

function addAgent(program: Command): void {
  const agent = withWayOptions(
    withPlaceOptions(
      withAllowedServices(withPolicyOptions(withTracingOptions(role(program.command('agent'))))),
    ),
  )
  withAllowedDials(agent)
    .description(
      'Connect a Kubernetes cluster to a hub: dial out, and give the hub access to the API',
    )
    .option('--hub <url>', 'address of the hub')
    .option(
      '--karmada <url>',
      'API server of a Karmada to use instead of a hub; its Works are applied',
    )
    .option('--karmada-kubeconfig <path>', 'kubeconfig for that Karmada, with an existing identity')
    .requiredOption('--name <name>', 'name of the cluster on the hub')
    .option('--token-file <path>', 'file with the registration token; or set SKERRY_TOKEN')
    .option('--ca-hash <hash>', 'sha256:<hex> of the hub; only to register')
    .option(
      '--kubeconfig <path>',
      'kubeconfig for the cluster (default: that of the pod it runs in)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--data-dir <path>', 'directory for its identity', join(dataDirectoryDefault, 'agent'))
    .option(
      '--identity-secret <namespace/name>',
      'Secret of the cluster that keeps the identity if the data directory is lost',
    )
    .option('--apply-works', 'apply the Works that the hub has for this cluster')
    .option('--virtual-clusters', 'present groups of its nodes as clusters of their own on the hub')
    .option('--probe-port <number>', 'serve /livez and /readyz over HTTP on this port', toPort)
    .option(
      '--metrics-bind-address <host:port>',
      'serve /metrics over HTTP at this address, e.g. 127.0.0.1:9273 (default: not served)',
      toHostPort,
    )
    .addHelpText(
      'after',
      example(
        'skerry agent --hub https://hub:7443 --name shop-7 --token-file token --ca-hash sha256:…',
        'skerry agent --karmada https://karmada:5443 --name shop-7 --token-file token --ca-hash sha256:…',
        'skerry agent --hub https://hub:443 --name shop-7 --proxy http://proxy:3128 --proxy-credentials-file login',
      ),
    )
    .action(async (options: AgentFlags) => {
      const { karmadaOf, runAsKarmadas } = await import('../../roles/agent/agent-way.ts')
      const karmada = await karmadaOf(options)
      if (karmada) return runAsKarmadas(karmada, options, agentOptions(options, ''))
      const { hub = '' } = options
      const { runAgentPod } = await import('../../roles/agent/agent-pod.ts')
      const { findLocalApi } = await import('../../roles/agent/local-api.ts')
      const { connectBy } = await import('../../roles/runtime/way-to-hub.ts')
      const api = await findLocalApi(options)
      await runRole(
        'agent',
        options.logLevel,
        async (context) => {
          const way = await connectBy({ ...options, hub }, context)
          await runAgentPod({ ...agentOptions(options, hub), api, ...way }, context)
        },
        options,
      )
    })
}

function agentOptions(flags: AgentFlags, hub: string) {
  const { dataDir, name, tokenFile, caHash } = flags
  return {
    directory: dataDir,
    hub,
    clusterName: name,
    enrolment: { tokenFile, tokenText: process.env['SKERRY_TOKEN'], caHash },
    place: placeOf(flags),
    services: flags.allowService,
    dials: dialsOf(flags),
    appliesWorks: flags.applyWorks,
    hasVirtualClusters: flags.virtualClusters,
    ...confinedBy(flags),
  }
}

/** Returns the agent's limits on impersonation, and its options as a pod. */
function confinedBy(flags: AgentFlags) {
  const { identitySecret, probePort } = flags
  const { metricsBindAddress: metricsAddress } = flags
  return {
    policy: policyOf(flags),
    ...(identitySecret === undefined ? {} : { identitySecret }),
    ...(probePort === undefined ? {} : { probePort }),
    ...(metricsAddress === undefined ? {} : { metricsAddress }),
  }
}

interface ClusterFlags extends ChosenHub {
  output: string | undefined
}

function onHub(command: Command): Command {
  return withHubFlags(command).option('-o, --output <format>', 'output format: json', toJson)
}

function addRevoke(cluster: Command): void {
  onHub(cluster.command('revoke'))
    .description(
      "Void the agent's certificates and tokens and cut its tunnel; its pods keep running",
    )
    .argument('<name>')
    .option('--delete', 'also delete the Cluster object')
    .addHelpText('after', example('skerry cluster revoke shop-7'))
    .action(async (name: string, options: ClusterFlags & { delete: boolean | undefined }) => {
      const { revokeCluster } = await import('../client/cluster-commands.ts')
      await revokeCluster({ ...options, name, deletesObject: options.delete === true })
    })
}
