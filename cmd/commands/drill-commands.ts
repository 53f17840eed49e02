import { join } from 'node:path'
import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import type { DrillOptions } from '../../roles/client/drill/drill.ts'
import { example, runDirectoryDefault, toCount, toJson } from '../flags/option-values.ts'

/** Adds the command that looks ahead at an absence of the control plane. */
export function addDrillCommand(program: Command): void {
  program
    .command('drill')
    .description(
      'Say what an absence of the control plane would do to the node on this machine and its pods; changes nothing',
    )
    .option('--days <number>', 'length of the absence', toCount, 14)
    .option(
      '--data-dir <path>',
      'data directory of the node, or of "skerry up"',
      dataDirectoryDefault,
    )
    .option('--run-dir <path>', "the node's --run-dir", join(runDirectoryDefault, 'node'))
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry drill --days 14'))
    .action(async (options: DrillOptions) => {
      const { printDrill } = await import('../../roles/client/drill/drill.ts')
      await printDrill(options)
    })
}
