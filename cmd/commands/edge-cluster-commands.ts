import type { Command } from 'commander'
import type { EdgeOptions } from '../client/edge-cluster-access.ts'
import { onEdge } from '../flags/edge-cluster-flags.ts'
import { addProgramVersions } from './edge-job-commands.ts'
import { example } from '../flags/option-values.ts'
import { addEdgeClusterCreation } from './edge-cluster-creation.ts'
import { addImport, addJoinManifest } from './edge-cluster-import.ts'
import { addEdgeClusterNodes } from './edge-cluster-nodes.ts'

/** Adds the commands for clusters that the hub makes of machines over SSH. */
export function addEdgeClusterCommands(program: Command): void {
  addEdgeClusterCreation(program)
  addImport(program)
  const edge = program
    .command('edge-cluster')
    .description('Follow and steer clusters that the hub makes of machines over SSH')
  addViews(edge)
  addLogs(edge)
  addStepCommands(edge)
  addHolding(edge)
  addMake(edge)
  addAcceptHostKey(edge)
  addEdgeClusterNodes(edge)
  addDelete(edge)
  addJoinManifest(edge)
  addProgramVersions(edge)
}

type EdgeFlags = Omit<EdgeOptions, 'name'>

function addViews(edge: Command): void {
  onEdge(edge.command('list'))
    .description(
      'List edge clusters: their phase, finished steps, machines, and the present problem',
    )
    .option('-A, --all-namespaces', 'list those of every namespace')
    .addHelpText(
      'after',
      example('skerry edge-cluster list', 'skerry edge-cluster list --all-namespaces -o json'),
    )
    .action(async (flags: EdgeFlags & { allNamespaces: boolean | undefined }) => {
      const { printEdgeClusters } = await import('../client/edge-clusters.ts')
      await printEdgeClusters(flags)
    })
  onEdge(edge.command('get'))
    .description('Show one edge cluster: a result for each machine, host keys, and every step')
    .argument('<name>')
    .addHelpText(
      'after',
      example('skerry edge-cluster get branch-7', 'skerry edge-cluster get branch-7 -o json'),
    )
    .action(async (name: string, flags: EdgeFlags) => {
      const { printEdgeCluster } = await import('../client/edge-clusters.ts')
      await printEdgeCluster({ ...flags, name })
    })
  onEdge(edge.command('watch'))
    .description(
      'Follow the steps of an edge cluster until it is Ready (exit code 0), failed or cancelled (1)',
    )
    .argument('<name>')
    .addHelpText(
      'after',
      `
In a terminal the list is drawn again as it changes; elsewhere each change is a line, with -o json an object.
It shows what to do if the cluster waits for a person, and goes on. Ctrl-C ends the command, not the work.
${example('skerry edge-cluster watch branch-7', 'skerry edge-cluster watch branch-7 -o json')}`,
    )
    .action(async (name: string, flags: EdgeFlags) => {
      const { watchEdgeCluster } = await import('../client/edge-cluster-watch.ts')
      await watchEdgeCluster({ ...flags, name })
    })
}

function addLogs(edge: Command): void {
  onEdge(edge.command('logs'))
    .description('Print everything that the attempts of a step printed, without secrets')
    .argument('<name>')
    .argument(
      '<step>',
      'step as "skerry edge-cluster get" lists it; add @ and a machine if several did it',
    )
    .addHelpText(
      'after',
      example(
        'skerry edge-cluster logs branch-7 StartSite',
        'skerry edge-cluster logs branch-7 Preflight@10.0.0.11',
      ),
    )
    .action(async (name: string, step: string, flags: EdgeFlags) => {
      const { printStepLog } = await import('../client/edge-clusters.ts')
      await printStepLog({ ...flags, name, step })
    })
}

function addStepCommands(edge: Command): void {
  onEdge(edge.command('retry'))
    .description('Try failed or cancelled steps again, and those that wait for their next attempt')
    .argument('<name>')
    .argument('[steps...]', 'Step or Step@machine (default: all)')
    .addHelpText(
      'after',
      example(
        'skerry edge-cluster retry branch-7',
        'skerry edge-cluster retry branch-7 Preflight@10.0.0.11',
      ),
    )
    .action(async (name: string, steps: string[], flags: EdgeFlags) => {
      const { retrySteps } = await import('../client/edge-clusters.ts')
      await retrySteps({ ...flags, name, steps })
    })
  onEdge(edge.command('skip'))
    .description('Count steps as done without doing them; you answer for their result')
    .argument('<name>')
    .argument('<steps...>', 'Step or Step@machine')
    .addHelpText('after', example('skerry edge-cluster skip branch-7 Preflight@10.0.0.11'))
    .action(async (name: string, steps: string[], flags: EdgeFlags) => {
      const { skipSteps } = await import('../client/edge-clusters.ts')
      await skipSteps({ ...flags, name, steps })
    })
}

function addHolding(edge: Command): void {
  onEdge(edge.command('cancel'))
    .description('Cancel the running steps; "retry" continues')
    .argument('<name>')
    .addHelpText('after', example('skerry edge-cluster cancel branch-7'))
    .action(async (name: string, flags: EdgeFlags) => {
      const { cancelEdgeCluster } = await import('../client/edge-clusters.ts')
      await cancelEdgeCluster({ ...flags, name })
    })
  for (const [verb, paused, what] of [
    ['pause', true, 'End the steps that run, and begin no other until "resume"'],
    ['resume', false, 'Continue after "pause"'],
  ] as const) {
    onEdge(edge.command(verb))
      .description(what)
      .argument('<name>')
      .addHelpText('after', example(`skerry edge-cluster ${verb} branch-7`))
      .action(async (name: string, flags: EdgeFlags) => {
        const { pauseEdgeCluster } = await import('../client/edge-clusters.ts')
        await pauseEdgeCluster({ ...flags, name }, paused)
      })
  }
}

function addMake(edge: Command): void {
  onEdge(edge.command('make'))
    .description('Make a cluster that was only checked, with "create edge-cluster --check --keep"')
    .argument('<name>')
    .addHelpText('after', example('skerry edge-cluster make branch-7'))
    .action(async (name: string, flags: EdgeFlags) => {
      const { makeChecked } = await import('../client/edge-clusters.ts')
      await makeChecked({ ...flags, name })
    })
}

function addAcceptHostKey(edge: Command): void {
  onEdge(edge.command('accept-host-key'))
    .description("Accept a machine's host key, which the hub keeps, and log in there again")
    .argument('<name>')
    .argument('<keys...>', 'address=SHA256:…, as ssh-keygen -lf prints it on the machine')
    .addHelpText(
      'after',
      example(
        'skerry edge-cluster accept-host-key branch-7 10.0.0.11=SHA256:n0rZaeKnzPc4Ap4PYkvIaBnsgM0mwyVnKSpNDrUAAbY',
      ),
    )
    .action(async (name: string, hostKeys: string[], flags: EdgeFlags) => {
      const { acceptHostKeys } = await import('../client/edge-clusters.ts')
      await acceptHostKeys({ ...flags, name, hostKeys })
    })
}

interface DeleteFlags extends EdgeFlags {
  keepMachines: boolean | undefined
  wait: boolean | undefined
}

function addDelete(edge: Command): void {
  onEdge(edge.command('delete'))
    .description('Clean the machines of an edge cluster, and remove it from the hub')
    .argument('<name>')
    .option('--keep-machines', 'leave the machines running as they are')
    .option('--wait', 'follow the steps until it is gone, as "watch" does')
    .addHelpText(
      'after',
      example(
        'skerry edge-cluster delete branch-7 --wait',
        'skerry edge-cluster delete branch-7 --keep-machines',
      ),
    )
    .action(async (name: string, flags: DeleteFlags) => {
      const { deleteEdgeCluster } = await import('../client/edge-clusters.ts')
      await deleteEdgeCluster({ ...flags, name })
    })
}
