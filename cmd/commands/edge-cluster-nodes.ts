import type { Command } from 'commander'
import type { RemoveOptions, ReplaceOptions } from '../client/edge-cluster-nodes.ts'
import { onEdge } from '../flags/edge-cluster-flags.ts'
import { collect, example } from '../flags/option-values.ts'

/** Adds the commands that take machines out of an edge cluster. */
export function addEdgeClusterNodes(edge: Command): void {
  addRemove(edge)
  addReplace(edge)
}

const deadText = 'it will never answer again: remove its node and pods at once, and clean nothing'
const waitText = 'follow the steps until the cluster is Ready, as "watch" does'

function addRemove(edge: Command): void {
  onEdge(edge.command('remove-node'))
    .description('Take a machine out of an edge cluster: drain it, remove its node, and clean it')
    .argument('<name>')
    .argument('<address>', 'address of the machine; a range of the object is split around it')
    .option('--dead', deadText)
    .option('--wait', waitText)
    .addHelpText(
      'after',
      `
Pods are moved as far as their disruption budgets permit; the hub tries again while a budget keeps one. Volumes on the
machine are lost. A machine that is leaving already can still be called dead.
${example(
  'skerry edge-cluster remove-node branch-7 10.0.0.12 --wait',
  'skerry edge-cluster remove-node branch-7 10.0.0.12 --dead',
)}`,
    )
    .action(async (name: string, address: string, flags: Omit<RemoveOptions, 'name'>) => {
      const { removeNode } = await import('../client/edge-cluster-nodes.ts')
      await removeNode({ ...flags, name, address })
    })
}

function addReplace(edge: Command): void {
  onEdge(edge.command('replace-node'))
    .description('Take a machine out of an edge cluster, and make a node of another one')
    .argument('<name>')
    .argument('<old>', 'address of the machine that goes')
    .argument('<new>', '[user@]address[:port] of the machine that comes')
    .option('--dead', deadText)
    .option(
      '--credentials <secret>',
      'Secret with the login of the new machine (default: the same)',
    )
    .option(
      '--host-key <address=fingerprint>',
      'SHA256:… that the new machine must show (repeatable)',
      collect,
      [],
    )
    .option('--accept-new-host-keys', 'accept and keep the first key that it shows')
    .option('--wait', waitText)
    .addHelpText(
      'after',
      `
The new machine gets the user, port, labels and taints of the old one. It may have the same host name: then its node
is made once the old one is gone.
${example('skerry edge-cluster replace-node branch-7 10.0.0.12 10.0.0.15 --dead --wait')}`,
    )
    .action(
      async (
        name: string,
        address: string,
        replacement: string,
        flags: Omit<ReplaceOptions, 'name'>,
      ) => {
        const { replaceNode } = await import('../client/edge-cluster-nodes.ts')
        await replaceNode({ ...flags, name, address, replacement })
      },
    )
}
