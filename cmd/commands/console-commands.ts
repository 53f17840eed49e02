import type { Command } from 'commander'
import { withHubFlags, type ChosenHub } from '../../roles/admin/chosen-hub.ts'
import { example, toJson } from '../flags/option-values.ts'
import { askMs } from '../limits-table.ts'

interface ConsoleFlags extends ChosenHub {
  output: string | undefined
}

/** Adds the command that leads a person into the web console. */
export function addConsoleCommand(program: Command): void {
  withHubFlags(program.command('console'))
    .description("Print a link to the hub's web console that logs you in once, within ten minutes")
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText(
      'after',
      example('sudo skerry console', 'skerry console --kubeconfig hub.kubeconfig -o json'),
    )
    .action(async ({ output, ...chosen }: ConsoleFlags) => {
      const { openChosenHub } = await import('../../roles/admin/admin-cluster.ts')
      const { makeConsoleLink } = await import('../../roles/admin/console-link.ts')
      const hub = await openChosenHub(chosen)
      const made = await makeConsoleLink(hub, AbortSignal.timeout(askMs))
      console.log(output === 'json' ? JSON.stringify(made) : made.link)
    })
}
