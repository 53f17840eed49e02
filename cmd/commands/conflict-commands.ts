import { join } from 'node:path'
import { Argument, type Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import type { ChooseOptions, ConflictsOptions } from '../../roles/client/site/conflicts.ts'
import { example, toJson } from '../flags/option-values.ts'

/** Adds the commands for writes of nodes that met another change at their site. */
export function addConflictCommands(program: Command): void {
  const conflicts = program
    .command('conflicts')
    .description('List, show and settle writes of nodes that met another change at their site')
  withSite(conflicts.command('list'))
    .description('List the conflicts')
    .addHelpText('after', example('skerry conflicts list'))
    .action(async (options: ConflictsOptions) => {
      const { printConflicts } = await import('../../roles/client/site/conflicts.ts')
      await printConflicts(options)
    })
  withSite(conflicts.command('show'))
    .description('Show a conflict with the values of both sides')
    .argument('<name>', 'name of the conflict')
    .addHelpText('after', example('skerry conflicts show shop-7-1f2e3d4c-12'))
    .action(async (name: string, options: ConflictsOptions) => {
      const { printConflict } = await import('../../roles/client/site/conflicts.ts')
      await printConflict({ ...options, name })
    })
  withSite(conflicts.command('choose'))
    .description('Give the object the values of one side, with your own rights')
    .argument('<name>', 'name of the conflict')
    .addArgument(new Argument('<side>', 'edge: the values of the node').choices(['edge', 'cloud']))
    .option('--force', 'also where the object has changed since')
    .addHelpText('after', example('skerry conflicts choose shop-7-1f2e3d4c-12 edge'))
    .action(
      async (
        name: string,
        side: ChooseOptions['side'],
        options: Omit<ChooseOptions, 'name' | 'side'>,
      ) => {
        const { chooseSide } = await import('../../roles/client/site/conflicts.ts')
        await chooseSide({ ...options, name, side })
      },
    )
}

function withSite(command: Command): Command {
  return command
    .option('--data-dir <path>', 'data directory of the site', join(dataDirectoryDefault, 'site'))
    .option('--kubeconfig <path>', 'kubeconfig for the site, instead of --data-dir')
    .option('-o, --output <format>', 'output format: json', toJson)
}
