import { Option, type Command } from 'commander'
import { withHubFlags, type ChosenHub } from '../../roles/admin/chosen-hub.ts'
import { example } from '../flags/option-values.ts'

interface ExplainFlags extends ChosenHub {
  namespace: string
  output: string | undefined
}

/** Adds the command that explains why an object of the hub is where it is. */
export function addExplainCommand(program: Command): void {
  withHubFlags(program.command('explain'))
    .description(
      'Explain the placement of an object: why on these clusters, why not on others, and the cause of any delay. In a cluster with edge applications, how the object of a group differs, and why',
    )
    .argument('<kind/name>', 'e.g. deployment/web, or deployments.apps/web')
    .option('-n, --namespace <name>', 'namespace of the object', 'default')
    .addOption(
      new Option('-o, --output <format>', 'format of the output').choices(['json', 'yaml']),
    )
    .addHelpText(
      'after',
      example(
        'skerry explain deployment/web -n shop',
        'skerry explain deployments.apps/web -n shop -o json --kubeconfig hub.kubeconfig',
      ),
    )
    .action(async (object: string, flags: ExplainFlags) => {
      const { printExplanation } = await import('../../roles/client/explain.ts')
      await printExplanation({ ...flags, object })
    })
}
