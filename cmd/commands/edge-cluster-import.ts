import type { Command } from 'commander'
import type { EdgeOptions } from '../client/edge-cluster-access.ts'
import type { ImportOptions } from '../client/edge-cluster-import.ts'
import { onEdge } from '../flags/edge-cluster-flags.ts'
import { collect, example } from '../flags/option-values.ts'

/** Adds the command that brings a cluster that exists to the hub. */
export function addImport(program: Command): void {
  onEdge(
    program
      .command('import')
      .description('Bring an existing cluster to the hub')
      .command('edge-cluster'),
  )
    .description('Import a cluster that exists (K3s, upstream, managed): its agent connects it')
    .argument('<name>', 'name of the EdgeCluster, and of the Cluster on the hub')
    .option('--display-name <text>', 'name that people see')
    .option('--hub-server <url>', 'address at which the agent reaches the hub (default: its own)')
    .option('--apply-works', 'the agent applies the Works that the hub has for the cluster')
    .option(
      '--allow-service <namespace/name:port>',
      'the hub may reach the pods of this service (repeatable)',
      collect,
      [],
    )
    .option(
      '--allow-dial <address[/bits]:port>',
      'the hub may dial this machine, or each of a network (repeatable)',
      collect,
      [],
    )
    .option('--image <reference>', "image of the agent's container")
    .option('--no-wait', 'do not follow the steps until the cluster is Ready')
    .option('--dry-run', 'let the hub check everything and print the result; make nothing')
    .addHelpText(
      'after',
      `
The hub makes a Secret with a manifest, and the command prints the line that applies it in the cluster. Nothing else
of the cluster is changed; "skerry edge-cluster delete" takes the agent out again.
${example(
  'skerry import edge-cluster branch-8',
  'skerry import edge-cluster branch-8 --apply-works --hub-server https://hub.example.com:7443',
)}`,
    )
    .action(async (name: string, options: Omit<ImportOptions, 'name'>) => {
      const { importEdgeCluster } = await import('../client/edge-cluster-import.ts')
      await importEdgeCluster({ ...options, name })
    })
}

/** Adds the command that prints what the imported cluster needs. */
export function addJoinManifest(edge: Command): void {
  onEdge(edge.command('join-manifest'))
    .description('Print the manifest, with a token, that connects an imported cluster')
    .argument('<name>')
    .option('--command', 'print the command for a machine that reaches the cluster instead')
    .addHelpText(
      'after',
      example(
        'skerry edge-cluster join-manifest branch-8 | kubectl --context branch-8 apply -f -',
        'skerry edge-cluster join-manifest branch-8 --command',
      ),
    )
    .action(
      async (name: string, flags: Omit<EdgeOptions, 'name'> & { command: boolean | undefined }) => {
        const { printJoinManifest } = await import('../client/edge-cluster-import.ts')
        await printJoinManifest({ ...flags, name })
      },
    )
}
