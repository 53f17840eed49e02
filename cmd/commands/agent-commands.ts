import { join } from 'node:path'
import type { Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import type { MetricsAddress } from '../../roles/agent/agent-metrics-server.ts'
import { placeOf, type PlaceFlags } from '../../roles/agent/place-options.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import type { TracingFlags } from '../../roles/runtime/tracing-options.ts'
import type { WayFlags } from '../../roles/runtime/way-options.ts'
import {
  dialsOf,
  edgeAppsOption,
  policyOf,
  withAllowedDials,
  withAllowedServices,
  withPlaceOptions,
  withPolicyOptions,
  withWayOptions,
  type AllowedDialsFlags,
  type AllowedServicesFlags,
  type EdgeAppsFlags,
  type PolicyFlags,
} from '../flags/agent-flags.ts'
import { withTracingOptions } from '../flags/control-plane-flags.ts'
import { example, role, toHostPort, toPort } from '../flags/option-values.ts'

/** Adds the role that connects a cluster to a hub. */
export function addAgentCommand(program: Command): void {
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
    .addOption(edgeAppsOption().conflicts('karmada'))
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
    .action(async (flags: AgentFlags) => {
      const { startAgent } = await import('../../roles/agent/agent-way.ts')
      await startAgent(flags, agentOptions(flags))
    })
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
    EdgeAppsFlags,
    TracingFlags {
  dataDir: string
  name: string
  probePort: number | undefined
  applyWorks: boolean | undefined
  virtualClusters: boolean | undefined
  metricsBindAddress: MetricsAddress | undefined
  logLevel: LogLevel
}

function agentOptions(flags: AgentFlags) {
  const { dataDir, name, tokenFile, caHash, hub = '' } = flags
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
    edgeApps: flags.edgeApps,
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
