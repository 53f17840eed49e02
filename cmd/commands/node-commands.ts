import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import type { LogLevel } from '@skerry/base'
import type { KeptScope } from '@skerry/node-api'
import type { NodeOptions } from '../../roles/node/node.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { defaultNodeName } from '../../roles/runtime/host-addresses.ts'
import { runRole, type RoleContext } from '../../roles/runtime/role-context.ts'
import {
  collectKept,
  collectTaint,
  neighboursOption,
  toLinkLocal,
  type TaintFlag,
} from '../flags/node-flags.ts'
import {
  collect,
  example,
  role,
  toFixedPort,
  toPods,
  toPort,
  toServers,
} from '../flags/option-values.ts'
import { unitOf, withUnitOptions, type UnitFlags } from '../flags/unit-flags.ts'

/** Adds the role that runs pods. */
export function addNodeCommand(program: Command): void {
  withUnitOptions(role(program.command('node')))
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
    .option('--local-api', 'serve the API to the pods of this node, also while the site is away')
    .option(
      '--local-api-address <ip>',
      'link-local address at which pods of this node reach that API',
      toLinkLocal,
      '169.254.20.11',
    )
    .option('--local-api-port <number>', 'port of that API', toFixedPort, 6444)
    .option(
      '--local-api-keep <kind>',
      'copy <resource>[.<group>][/<namespace>] before anybody asks for it (repeatable)',
      collectKept,
      [],
    )
    .addOption(neighboursOption('watch the nodes with the same value of it, as the site has it'))
    .option('--stop-pods', 'end the pods when the node is stopped')
    .addHelpText(
      'after',
      example('skerry node --server https://10.0.0.5:6443 --token-file token --ca-hash sha256:…'),
    )
    .action(async (options: NodeFlags) => {
      const run = options.leadUnit === true ? await leading(options) : await plain()
      await runRole('node', options.logLevel, (context) => run(nodeOptionsOf(options), context))
    })
}

type RunNode = (options: NodeOptions, context: RoleContext) => Promise<void>

async function plain(): Promise<RunNode> {
  const { runNode } = await import('../../roles/node/node.ts')
  return runNode
}

async function leading(flags: UnitFlags): Promise<RunNode> {
  const { runLeadingNode } = await import('../../roles/machine/unit/run-leading-node.ts')
  return (options, context) => runLeadingNode(options, unitOf(flags), context)
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
    network: {
      clusterCidr,
      serviceCidr,
      clusterDomain,
      reservedAddresses,
      localApi: localApiOf(flags),
      neighboursBy: flags.neighboursBy,
    },
    kubeletPort,
    podsMax: flags.maxPods,
    preloadDir: flags.preloadDir ?? join(dataDir, 'images'),
    ...(flags.registryDir === undefined ? {} : { registryDir: flags.registryDir }),
    stopsPods: flags.stopPods === true,
  }
}

function localApiOf({ localApi, localApiAddress, localApiPort, localApiKeep }: LocalApiFlags) {
  if (localApi !== true) return undefined
  return { address: localApiAddress, port: localApiPort, kept: localApiKeep }
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

interface JoiningFlags {
  server: string[]
  tokenFile: string | undefined
  caHash: string | undefined
}

/** The ranges and the domain of a cluster, as a site and its nodes have them. */
interface NetworkFlags {
  neighboursBy: string | undefined
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
}

interface RegistrationFlags {
  label: string[]
  taint: readonly TaintFlag[]
}

interface LocalApiFlags {
  localApi: boolean | undefined
  localApiAddress: string
  localApiPort: number
  localApiKeep: readonly KeptScope[]
}

interface NodeFlags
  extends JoiningFlags, NetworkFlags, RegistrationFlags, LocalApiFlags, UnitFlags {
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
