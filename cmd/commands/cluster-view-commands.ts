import { Option, type Command } from 'commander'
import { withHubFlags, type ChosenHub } from '../../roles/admin/chosen-hub.ts'
import { example } from '../flags/option-values.ts'

interface ViewFlags extends ChosenHub {
  output: string | undefined
}

/** Adds the commands that show the clusters' states. */
export function addClusterViews(cluster: Command): void {
  addList(cluster)
  addDescribe(cluster)
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
      const { printClusters } = await import('../client/cluster-list.ts')
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
      const { printCluster } = await import('../client/cluster-describe.ts')
      await printCluster({ ...options, name })
    })
}
