import { InvalidArgumentError, Option, type Command } from 'commander'
import { join } from 'node:path'
import { parseDurationMs } from '@skerry/api'
import { withHubFlags, type ChosenHub } from '../../roles/admin/chosen-hub.ts'
import type { LeaveFlags } from '../../roles/client/clusters/leave-cluster.ts'
import type { JoinCommandOptions } from '../../roles/client/clusters/join-command.ts'
import type { RegistrationsOptions } from '../../roles/client/clusters/registrations.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { edgeAppsOption, withPlaceOptions, withWayOptions } from '../flags/agent-flags.ts'
import { collect, example, role, toFixedPort, toJson, toLife } from '../flags/option-values.ts'
import { withLinePackage } from '../flags/package-flags.ts'
import { commandBounds } from '../limits-table.ts'

/** Adds the commands for the clusters of a hub. */
export function addClusterCommands(program: Command): void {
  const cluster = program.command('cluster').description('Manage the clusters of a hub')
  addJoinCommand(cluster)
  addPending(cluster)
  addDecision(cluster, { name: 'accept', accepts: true, what: 'Accept a waiting agent' })
  addDecision(cluster, {
    name: 'reject',
    accepts: false,
    what: 'Reject a waiting agent, and void its token',
  })
  addList(cluster)
  addDescribe(cluster)
  addRevoke(cluster)
  addLeave(cluster)
  addKarmadaManifest(cluster)
}

function onHub(command: Command): Command {
  return withHubFlags(command).option('-o, --output <format>', 'output format: json', toJson)
}

function addJoinCommand(cluster: Command): void {
  const command = withPlaceOptions(onHub(cluster.command('join-command')))
  withLinePackage(command, 'that of the EdgeCluster with this name')
    .description('Make a registration token and print the command or the manifest for the edge')
    .argument('<name>', 'name that the cluster will have on the hub')
    .option('--server <url>', 'address of the hub that the agent dials')
    .option('--ttl <duration>', 'validity of the token, e.g. 30m, 24h', toLife, '24h')
    .option('--manifest', 'print a manifest for "kubectl apply -f -" in the cluster')
    .option(
      '--machine',
      'print a line for a bare machine, which becomes a site with a node under this name',
    )
    .option(
      '--image <reference>',
      'image of the agent (default: the one that "skerry build --agent-image" makes)',
    )
    .option('--site-port <number>', "port of the API of the new machine's site", toFixedPort)
    .option('--needs-acceptance', 'the agent waits for "skerry cluster accept"')
    .option('--allow-user <name>', 'the agent acts for these users only (repeatable)', collect, [])
    .option(
      '--allow-group <name>',
      'the agent acts for users in these groups only (repeatable)',
      collect,
      [],
    )
    .option('--allow-masters', 'the agent acts for users in system:masters, too')
    .option(
      '--allow-service <namespace/name:port>',
      'the hub may reach the pods of this service; * for name or port (repeatable). anywhere=<namespace/name:port>: also endpoints written by hand, and a name elsewhere',
      collect,
      [],
    )
    .option(
      '--allow-dial <address[/bits]:port>',
      'the hub may dial this machine, or each of a network, e.g. 10.0.0.0/24:22 (repeatable)',
      collect,
      [],
    )
    .option('--apply-works', 'the agent applies the Works that the hub has for the cluster')
    .option('--virtual-clusters', 'the agent may register groups of its nodes as clusters')
    .addOption(edgeAppsOption())
    .option(
      '--proxy <url>',
      'HTTP proxy that the agent or the new machine uses, e.g. http://proxy.example:3128',
    )
    .option(
      '--proxy-credentials',
      'the proxy requires a login: in the file proxy-credentials, the Secret skerry-agent-proxy, or /etc/skerry/proxy-credentials of a new machine',
    )
    .option('--inspected-tls', "the agent's connection passes a box that opens TLS")
    .addHelpText(
      'after',
      example(
        'skerry cluster join-command shop-7 --server https://hub:7443',
        'skerry cluster join-command shop-7 --machine --apply-works --ttl 1h',
        'skerry cluster join-command shop-7 --manifest | kubectl --context shop-7 apply -f -',
      ),
    )
    .action(async (name: string, options: Omit<JoinCommandOptions, 'name'>) => {
      const { printJoinCommand } = await import('../../roles/client/clusters/join-command.ts')
      await printJoinCommand({ ...options, name })
    })
}

function addPending(cluster: Command): void {
  onHub(cluster.command('pending'))
    .description('List the agents that wait for acceptance: their address, their key, the reason')
    .addHelpText('after', example('skerry cluster pending', 'skerry cluster pending -o json'))
    .action(async (options: RegistrationsOptions) => {
      const { printPending } = await import('../../roles/client/clusters/registrations.ts')
      await printPending(options)
    })
}

function addDecision(
  cluster: Command,
  { name: verb, accepts, what }: { name: string; accepts: boolean; what: string },
): void {
  onHub(cluster.command(verb))
    .description(what)
    .argument('<name>')
    .option('--request <name>', 'choose this one of several requests for the name')
    .addHelpText('after', example(`skerry cluster ${verb} shop-7`))
    .action(async (name: string, options: RegistrationsOptions & { request?: string }) => {
      const { decide } = await import('../../roles/client/clusters/registrations.ts')
      await decide({ ...options, request: options.request, name, accepts })
    })
}

interface ViewFlags extends ChosenHub {
  output: string | undefined
}

function addList(cluster: Command): void {
  withHubFlags(cluster.command('list'))
    .description(
      'List the clusters: whether and since when they are connected, last contact, round trip, agents',
    )
    .addOption(
      new Option('-o, --output <format>', 'format of the output').choices([
        'wide',
        'json',
        'yaml',
        'name',
      ]),
    )
    .option('-w, --watch', 'keep running, and print a cluster again when it changes')
    .addHelpText(
      'after',
      example(
        'skerry cluster list',
        'skerry cluster list -o wide --watch',
        'skerry cluster list -o json',
        'skerry cluster list --kubeconfig hub.kubeconfig',
      ),
    )
    .action(async (options: ViewFlags & { watch: boolean | undefined }) => {
      const { printClusters } = await import('../../roles/client/clusters/cluster-list.ts')
      await printClusters({ ...options, isWatching: options.watch === true })
    })
}

function addDescribe(cluster: Command): void {
  withHubFlags(cluster.command('describe'))
    .description(
      'Show everything that the hub knows about one cluster: its object, tunnels, agents and events',
    )
    .argument('<name>')
    .addOption(
      new Option('-o, --output <format>', 'format of the output').choices(['json', 'yaml']),
    )
    .addHelpText(
      'after',
      example('skerry cluster describe shop-7', 'skerry cluster describe shop-7 -o yaml'),
    )
    .action(async (name: string, options: ViewFlags) => {
      const { printCluster } = await import('../../roles/client/clusters/cluster-describe.ts')
      await printCluster({ ...options, name })
    })
}

interface RevokeFlags extends ChosenHub {
  output: string | undefined
  delete: boolean | undefined
}

function addRevoke(cluster: Command): void {
  onHub(cluster.command('revoke'))
    .description(
      "Void the agent's certificates and tokens and cut its tunnel; its pods keep running",
    )
    .argument('<name>')
    .option('--delete', 'also delete the Cluster object')
    .addHelpText('after', example('skerry cluster revoke shop-7'))
    .action(async (name: string, options: RevokeFlags) => {
      const { revokeCluster } = await import('../../roles/client/clusters/revoke-cluster.ts')
      await revokeCluster({ ...options, name, deletesObject: options.delete === true })
    })
}

function addLeave(cluster: Command): void {
  withWayOptions(role(cluster.command('leave')))
    .description('Remove a cluster from its hub or from Karmada; its agent must be stopped')
    .argument('<name>', 'name of the cluster there')
    .option('--hub <url>', 'the address that its agent uses')
    .option('--karmada <url>', 'the address that its agent uses')
    .option(
      '--data-dir <path>',
      `data directory of its agent (default: ${join(dataDirectoryDefault, 'agent')})`,
    )
    .option('--identity-secret <namespace/name>', 'Secret of the cluster that has its identity')
    .option(
      '--kubeconfig <path>',
      'kubeconfig for the cluster (default: that of the pod it runs in)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--keep-objects', 'keep the objects that Works created, without an owner')
    .addHelpText(
      'after',
      example(
        'skerry cluster leave shop-7 --hub https://hub:7443 --kubeconfig shop.config',
        'skerry cluster leave shop-7 --karmada https://karmada:5443 --kubeconfig shop.config',
      ),
    )
    .action(async (name: string, flags: LeaveFlags) => {
      const { runLeave } = await import('../../roles/client/clusters/leave-cluster.ts')
      await runLeave(name, flags)
    })
}

interface ManifestFlags {
  dataDir: string
  output: string | undefined
  server: string | undefined
  ttl: string
  syncMode: 'Pull' | 'Push'
  revoke: boolean | undefined
}

const { ttlMsMin } = commandBounds.karmadaManifest

function addKarmadaManifest(cluster: Command): void {
  onHub(cluster.command('karmada-manifest'))
    .description(
      'Let Karmada reach a cluster through this hub: print the manifest to apply at Karmada',
    )
    .argument('<name>', 'name of the cluster on the hub and in Karmada')
    .option('--server <url>', 'address of the hub that Karmada dials')
    .option(
      '--sync-mode <mode>',
      'Pull, with its own agent at the site, or Push',
      toSyncMode,
      'Pull',
    )
    .option('--ttl <duration>', 'validity of the tokens, e.g. 720h', toDuration, '8760h')
    .option('--revoke', 'void the issued tokens, and print no manifest')
    .addHelpText(
      'after',
      example(
        'skerry cluster karmada-manifest shop-7 --server https://hub:7443 | kubectl --kubeconfig karmada.config apply -f -',
        'skerry cluster karmada-manifest shop-7 --revoke',
      ),
    )
    .action(async (name: string, flags: ManifestFlags) => {
      const { printKarmadaManifest, revokeKarmadaAccess } =
        await import('../../roles/client/clusters/karmada-manifest.ts')
      const kubeconfigPath = join(flags.dataDir, 'admin.kubeconfig')
      const run = flags.revoke === true ? revokeKarmadaAccess : printKarmadaManifest
      const ttlSeconds = Math.floor((parseDurationMs(flags.ttl) ?? 0) / 1_000)
      await run({ ...flags, ttlSeconds, name, kubeconfigPath })
    })
}

function toSyncMode(text: string): 'Pull' | 'Push' {
  if (text === 'Pull' || text === 'Push') return text
  throw new InvalidArgumentError('a cluster is synchronized by Pull or by Push')
}

function toDuration(text: string): string {
  if ((parseDurationMs(text) ?? 0) >= ttlMsMin) return text
  throw new InvalidArgumentError('tokens last 10m or longer, e.g. 720h')
}
