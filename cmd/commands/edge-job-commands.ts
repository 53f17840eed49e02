import { InvalidArgumentError, type Command } from 'commander'
import type { EdgeOptions } from '../../roles/client/edge-clusters/edge-cluster-access.ts'
import type { PackageFlags } from '../../roles/client/edge-clusters/package-source.ts'
import type { JobFlags } from '../../roles/client/edge-jobs/edge-job-create.ts'
import { onEdge } from '../flags/edge-cluster-flags.ts'
import {
  configurationOf,
  withJobOptions,
  type ConfigurationFlags,
} from '../flags/edge-job-flags.ts'
import { collect, example } from '../flags/option-values.ts'

type Flags = Omit<EdgeOptions, 'name'>

/** Adds the commands that change the machines of many edge clusters: their program, their options, their images. */
export function addEdgeJobCommands(program: Command): void {
  addUpgrade(
    program.command('upgrade').description('Upgrade machines to another version of the program'),
  )
  addConfigure(program.command('configure').description('Give machines other options'))
  addPullImages(program)
  const job = program
    .command('edge-job')
    .description('Follow and steer upgrades, configurations and image pulls on edge clusters')
  addViews(job)
  addAsks(job)
  addHolding(job)
}

function addUpgrade(upgrade: Command): void {
  withJobOptions(upgrade.command('edge-cluster'))
    .description('Give the machines of edge clusters another version, one after another')
    .option('--to <version>', 'version, as "skerry edge-cluster versions" lists it')
    .option('--package <digest>', 'offline package of the hub, instead of --to')
    .option('--package-key <path>', 'file with the public key that must have signed it')
    .option('--pull-image <name>', 'pull this image first (repeatable)', collect, [])
    .option('--pull-secret <name>', 'Secret with credentials for registries')
    .addHelpText(
      'after',
      `
The hub checks each machine, copies the program beside the old one, backs up the store, and starts the roles again:
masters first. Pods keep running. A machine that does not become Ready gets its old program back.
${example(
  'skerry upgrade edge-cluster branch-7 --to 0.2.0 --wait',
  'skerry upgrade edge-cluster --selector tier=shop --to 0.2.0 --failure-tolerance 5% --require-confirmation',
  'skerry upgrade edge-cluster branch-7 --package sha256:8c1f5ea0c5e4e4b1c2d3f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b --package-key operator.pub',
)}`,
    )
    .action(async (names: string[], flags: UpgradeFlags) => {
      const { createEdgeJob } = await import('../../roles/client/edge-jobs/edge-job-create.ts')
      const { pullImage: images, pullSecret } = flags
      const { programOf } = await import('../../roles/client/edge-clusters/package-source.ts')
      const wanted = await programOf(flags)
      const secretRef = pullSecret === undefined ? {} : { secretRef: { name: pullSecret } }
      const pulls = images.length === 0 ? {} : { images, ...secretRef }
      await createEdgeJob({ ...flags, names }, { upgrade: { ...wanted, ...pulls } })
    })
}

interface UpgradeFlags extends Omit<JobFlags, 'names'>, PackageFlags {
  to: string | undefined
  pullImage: string[]
  pullSecret: string | undefined
}

function addConfigure(configure: Command): void {
  withJobOptions(configure.command('edge-cluster'))
    .description(
      'Replace the options of the roles on machines of edge clusters, and start them again',
    )
    .option('--site-log-level <level>', 'error, info or debug')
    .option('--site-metrics-api <state>', 'on or off: metrics.k8s.io of the site', toSwitch)
    .option('--site-feature-gate <entry>', 'name=true or name=false (repeatable)', collect, [])
    .option('--site-runtime-config <entry>', 'api=true or api=false (repeatable)', collect, [])
    .option('--site-defaults', "remove everything that was configured for the site's role")
    .option('--node-log-level <level>', 'error, info or debug')
    .option(
      '--node-reserved-address <ip>',
      'address that no service may take (repeatable)',
      collect,
      [],
    )
    .option('--node-defaults', "remove everything that was configured for the nodes' role")
    .addHelpText(
      'after',
      `
The options of a role that is named replace all that were configured for it before.
${example(
  'skerry configure edge-cluster branch-7 --node-log-level debug --wait',
  'skerry configure edge-cluster --selector tier=shop --site-metrics-api off --require-confirmation',
)}`,
    )
    .action(async (names: string[], flags: ConfigureFlags) => {
      const { createEdgeJob } = await import('../../roles/client/edge-jobs/edge-job-create.ts')
      await createEdgeJob({ ...flags, names }, { configure: configurationOf(flags) })
    })
}

type ConfigureFlags = Omit<JobFlags, 'names'> & ConfigurationFlags

function toSwitch(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new InvalidArgumentError('use on or off')
}

function addPullImages(program: Command): void {
  withJobOptions(program.command('pull-images'))
    .description('Let the nodes of edge clusters pull images before something needs them')
    .option('--image <name>', 'name of an image (repeatable)', collect, [])
    .option('--pull-secret <name>', 'Secret with credentials for registries')
    .addHelpText(
      'after',
      example(
        'skerry pull-images branch-7 --image registry.example/shop/till:1.4 --wait',
        'skerry pull-images --selector tier=shop --image registry.example/shop/till:1.4 --pull-secret registry',
      ),
    )
    .action(async (names: string[], flags: PullFlags) => {
      const { createEdgeJob } = await import('../../roles/client/edge-jobs/edge-job-create.ts')
      const { image: images, pullSecret } = flags
      const secretRef = pullSecret === undefined ? {} : { secretRef: { name: pullSecret } }
      await createEdgeJob({ ...flags, names }, { pullImages: { images, ...secretRef } })
    })
}

interface PullFlags extends Omit<JobFlags, 'names'> {
  image: string[]
  pullSecret: string | undefined
}

function addViews(job: Command): void {
  onEdge(job.command('list'))
    .description('List jobs: their work, phase, machines, and the current problem')
    .option('-A, --all-namespaces', 'list those of every namespace')
    .addHelpText('after', example('skerry edge-job list', 'skerry edge-job list -A -o json'))
    .action(async (flags: Flags & { allNamespaces: boolean | undefined }) => {
      const { printEdgeJobs } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
      await printEdgeJobs(flags)
    })
  onEdge(job.command('get'))
    .description('Show one job with every machine')
    .argument('<name>')
    .addHelpText('after', example('skerry edge-job get upgrade-x7k2p'))
    .action(async (name: string, flags: Flags) => {
      const { printEdgeJob } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
      await printEdgeJob({ ...flags, name })
    })
  onEdge(job.command('watch'))
    .description('Follow a job until it is Completed (exit code 0), failed or cancelled (1)')
    .argument('<name>')
    .addHelpText('after', example('skerry edge-job watch upgrade-x7k2p'))
    .action(async (name: string, flags: Flags) => {
      const { watchEdgeJob } = await import('../../roles/client/edge-jobs/edge-job-watch.ts')
      await watchEdgeJob({ ...flags, name })
    })
  onEdge(job.command('logs'))
    .description('Print everything that the steps of a job printed on a machine, without secrets')
    .argument('<name>')
    .argument('<machine>', 'address, or cluster/address')
    .addHelpText('after', example('skerry edge-job logs upgrade-x7k2p branch-7/10.0.0.12'))
    .action(async (name: string, machine: string, flags: Flags) => {
      const { printJobLog } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
      await printJobLog({ ...flags, name, machine })
    })
}

function addAsks(job: Command): void {
  for (const [verb, what] of [
    ['retry', 'Begin machines again that have failed or were cancelled'],
    ['confirm', 'Confirm for machines that wait until somebody does'],
  ] as const) {
    onEdge(job.command(verb))
      .description(what)
      .argument('<name>')
      .argument('[targets...]', 'clusters, or machines as cluster/address (default: all)')
      .addHelpText(
        'after',
        example(
          `skerry edge-job ${verb} upgrade-x7k2p`,
          `skerry edge-job ${verb} upgrade-x7k2p branch-7/10.0.0.12`,
        ),
      )
      .action(async (name: string, targets: string[], flags: Flags) => {
        const { askJob } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
        await askJob({ ...flags, name, targets }, verb)
      })
  }
  onEdge(job.command('cancel'))
    .description(
      'Finish the machines that are being changed, and begin no other; "retry" continues',
    )
    .argument('<name>')
    .addHelpText('after', example('skerry edge-job cancel upgrade-x7k2p'))
    .action(async (name: string, flags: Flags) => {
      const { askJob } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
      await askJob({ ...flags, name, targets: [] }, 'cancel')
    })
}

function addHolding(job: Command): void {
  for (const [verb, paused, what] of [
    [
      'pause',
      true,
      'Finish the machines that are being changed, and begin no other until "resume"',
    ],
    ['resume', false, 'Continue after "pause"'],
  ] as const) {
    onEdge(job.command(verb))
      .description(what)
      .argument('<name>')
      .addHelpText('after', example(`skerry edge-job ${verb} upgrade-x7k2p`))
      .action(async (name: string, flags: Flags) => {
        const { pauseJob } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
        await pauseJob({ ...flags, name }, paused)
      })
  }
}

export function addProgramVersions(edge: Command): void {
  onEdge(edge.command('versions'))
    .description('List the programs for machines that the hub holds')
    .addHelpText(
      'after',
      example('skerry edge-cluster versions', 'skerry edge-cluster versions -o json'),
    )
    .action(async (flags: Flags) => {
      const { printProgramVersions } = await import('../../roles/client/edge-jobs/edge-jobs.ts')
      await printProgramVersions(flags)
    })
}
