import type { Command } from 'commander'
import { withHubFlags } from '../../roles/admin/chosen-hub.ts'
import type { JoinCommandOptions } from '../client/join-command.ts'
import type { RegistrationsOptions } from '../client/registrations.ts'
import { withPlaceOptions } from '../flags/place-flags.ts'
import { collect, example, toFixedPort, toJson, toLife } from '../flags/option-values.ts'

/** Adds the commands by which clusters join the hub: tokens, and the decision on waiting agents. */
export function addRegistrationCommands(cluster: Command): void {
  addJoinCommand(cluster)
  addPending(cluster)
  addDecision(cluster, { name: 'accept', accepts: true, what: 'Accept a waiting agent' })
  addDecision(cluster, {
    name: 'reject',
    accepts: false,
    what: 'Reject a waiting agent, and void its token',
  })
}

function onHub(command: Command): Command {
  return withHubFlags(command).option('-o, --output <format>', 'output format: json', toJson)
}

function addJoinCommand(cluster: Command): void {
  withPlaceOptions(onHub(cluster.command('join-command')))
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
      const { printJoinCommand } = await import('../client/join-command.ts')
      await printJoinCommand({ ...options, name })
    })
}

function addPending(cluster: Command): void {
  onHub(cluster.command('pending'))
    .description('List the agents that wait for acceptance: their address, their key, the reason')
    .addHelpText('after', example('skerry cluster pending', 'skerry cluster pending -o json'))
    .action(async (options: RegistrationsOptions) => {
      const { printPending } = await import('../client/registrations.ts')
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
      const { decide } = await import('../client/registrations.ts')
      await decide({ ...options, request: options.request, name, accepts })
    })
}
