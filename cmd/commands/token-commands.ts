import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import type { TokenOptions } from '../../roles/client/site/node-join-command.ts'
import { example, toJson, toLife } from '../flags/option-values.ts'
import { withLinePackage } from '../flags/package-flags.ts'

/** Adds the commands for bootstrap tokens of a site. */
export function addTokenCommands(program: Command): void {
  const token = program
    .command('token')
    .description('Make and print bootstrap tokens, with which machines join a site')
  withLinePackage(token.command('create'), "that of the site's machine")
    .description('Make a token with which one or more nodes may join until it expires')
    .option(
      '--data-dir <path>',
      'data directory of the site that they join',
      `${dataDirectoryDefault}/site`,
    )
    .option('--kubeconfig <path>', 'kubeconfig for the site, instead of --data-dir')
    .option(
      '--server <url>',
      'address that the new node dials (default: --control-plane-endpoint of the site, else a master)',
    )
    .option('--ttl <duration>', 'its validity, e.g. 30m, 24h', toLife, '24h')
    .option('--node-name <name>', 'the only name under which a node may join with it')
    .option('--print-join-command', 'print the whole command for the new machine')
    .option('--machine', 'print a line for a bare machine, which installs the program first')
    .option('--master', 'for a further master of a site with --etcd embedded; opens all its keys')
    .option('--witness', 'for a witness of such a site, which votes and gets no key of the masters')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText(
      'after',
      example(
        'skerry token create --print-join-command',
        'skerry token create --print-join-command --machine --ttl 1h',
        'skerry token create --master --print-join-command --ttl 1h',
      ),
    )
    .action(async (options: TokenOptions) => {
      const { printJoinToken } = await import('../../roles/client/site/node-join-command.ts')
      await printJoinToken(options)
    })
}
