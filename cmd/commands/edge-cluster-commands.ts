import type { Command } from 'commander'
import type { EdgeOptions } from '../../roles/client/edge-clusters/edge-cluster-access.ts'
import type {
  RemoveOptions,
  ReplaceOptions,
} from '../../roles/client/edge-clusters/edge-cluster-nodes.ts'
import { onEdge } from '../flags/edge-cluster-flags.ts'
import { collect, example } from '../flags/option-values.ts'
import { addJoinManifest } from './edge-cluster-creation.ts'
import { addProgramVersions } from './edge-job-commands.ts'

/** Adds the commands for clusters that the hub makes of machines over SSH. */
export function addEdgeClusterCommands(program: Command): void {
  const edge = program
    .command('edge-cluster')
    .description('Follow and steer clusters that the hub makes of machines over SSH')
  addViews(edge)
  addLogs(edge)
  for (const verb of verbs) addVerb(edge, verb)
  addAcceptHostKey(edge)
  addRemove(edge)
  addReplace(edge)
  addDelete(edge)
  addJoinManifest(edge)
  addProgramVersions(edge)
}

type EdgeFlags = Omit<EdgeOptions, 'name'>

function addViews(edge: Command): void {
  onEdge(edge.command('list'))
    .description(
      'List edge clusters: their phase, finished steps, machines, and the current problem',
    )
    .option('-A, --all-namespaces', 'list those of every namespace')
    .addHelpText(
      'after',
      example('skerry edge-cluster list', 'skerry edge-cluster list --all-namespaces -o json'),
    )
    .action(async (flags: EdgeFlags & { allNamespaces: boolean | undefined }) => {
      const { printEdgeClusters } =
        await import('../../roles/client/edge-clusters/edge-clusters.ts')
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
      const { printEdgeCluster } = await import('../../roles/client/edge-clusters/edge-clusters.ts')
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
      const { watchEdgeCluster } =
        await import('../../roles/client/edge-clusters/edge-cluster-watch.ts')
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
      const { printStepLog } = await import('../../roles/client/edge-clusters/edge-clusters.ts')
      await printStepLog({ ...flags, name, step })
    })
}

/** A command that asks the hub for something, and ends: the hub does it later. */
interface Verb {
  readonly name: string
  readonly description: string
  /** The steps that it takes as further arguments. If omitted, it is about the whole cluster. */
  readonly steps?: { readonly words: string; readonly description: string }
  readonly examples: readonly string[]
  readonly run: (options: EdgeOptions & { readonly steps: readonly string[] }) => Promise<void>
}

const verbs: readonly Verb[] = [
  {
    name: 'retry',
    description: 'Try failed or cancelled steps again, and those that wait for their next attempt',
    steps: { words: '[steps...]', description: 'Step or Step@machine (default: all)' },
    examples: ['retry branch-7', 'retry branch-7 Preflight@10.0.0.11'],
    run: async (options) =>
      (await import('../../roles/client/edge-clusters/edge-clusters.ts')).retrySteps(options),
  },
  {
    name: 'skip',
    description: 'Count steps as done without doing them; you answer for their result',
    steps: { words: '<steps...>', description: 'Step or Step@machine' },
    examples: ['skip branch-7 Preflight@10.0.0.11'],
    run: async (options) =>
      (await import('../../roles/client/edge-clusters/edge-clusters.ts')).skipSteps(options),
  },
  {
    name: 'cancel',
    description: 'Cancel the running steps; "retry" continues',
    examples: ['cancel branch-7'],
    run: async (options) =>
      (await import('../../roles/client/edge-clusters/edge-clusters.ts')).cancelEdgeCluster(
        options,
      ),
  },
  {
    name: 'pause',
    description: 'End the steps that run, and begin no other until "resume"',
    examples: ['pause branch-7'],
    run: async (options) =>
      (await import('../../roles/client/edge-clusters/edge-clusters.ts')).pauseEdgeCluster(
        options,
        true,
      ),
  },
  {
    name: 'resume',
    description: 'Continue after "pause"',
    examples: ['resume branch-7'],
    run: async (options) =>
      (await import('../../roles/client/edge-clusters/edge-clusters.ts')).pauseEdgeCluster(
        options,
        false,
      ),
  },
  {
    name: 'make',
    description: 'Make a cluster that was only checked, with "create edge-cluster --check --keep"',
    examples: ['make branch-7'],
    run: async (options) =>
      (await import('../../roles/client/edge-clusters/edge-clusters.ts')).makeChecked(options),
  },
]

function addVerb(edge: Command, { name: verb, description, steps, examples, run }: Verb): void {
  const command = onEdge(edge.command(verb)).description(description).argument('<name>')
  const help = example(...examples.map((words) => `skerry edge-cluster ${words}`))
  if (steps === undefined) {
    command
      .addHelpText('after', help)
      .action((name: string, flags: EdgeFlags) => run({ ...flags, name, steps: [] }))
    return
  }
  command
    .argument(steps.words, steps.description)
    .addHelpText('after', help)
    .action((name: string, named: string[], flags: EdgeFlags) =>
      run({ ...flags, name, steps: named }),
    )
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
      const { acceptHostKeys } = await import('../../roles/client/edge-clusters/edge-clusters.ts')
      await acceptHostKeys({ ...flags, name, hostKeys })
    })
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
      const { removeNode } = await import('../../roles/client/edge-clusters/edge-cluster-nodes.ts')
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
        const { replaceNode } =
          await import('../../roles/client/edge-clusters/edge-cluster-nodes.ts')
        await replaceNode({ ...flags, name, address, replacement })
      },
    )
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
      const { deleteEdgeCluster } =
        await import('../../roles/client/edge-clusters/edge-clusters.ts')
      await deleteEdgeCluster({ ...flags, name })
    })
}
