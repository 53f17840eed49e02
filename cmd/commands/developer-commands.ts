import { InvalidArgumentError, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import { example } from '../flags/option-values.ts'

/**
 * The functions behind the commands that work on the repository itself. Only the program of a source tree has
 * them.
 */
export interface Developer {
  /** Resolves the process's exit code. */
  runTests(request: TestRequest): Promise<number>
  /** Resolves the paths of what was built. */
  build(request: BuildRequest): Promise<string[]>
  bench(request: BenchRequest): Promise<void>
}

export interface TestRequest {
  /** Runs only the files whose path contains one of these; all if empty. */
  only: readonly string[]
  /** Leaves out the end-to-end tests, which need root. */
  isQuick: boolean
  /** Installs nothing; tests that need a missing program fail. */
  skipsInstall: boolean
}

export interface BuildRequest {
  /** The directory, emptied of earlier builds. */
  outputDir: string
  /** Whether to make the executable file with Node in it, for this machine's architecture. */
  executable: boolean
  /** The file for the agent's image, with that executable in it. If omitted, none is written. */
  agentImage?: string | undefined
}

export interface BenchRequest {
  readonly name: string
  /** The number of times that each subject is measured, in turns with its peer; figures are medians. */
  readonly rounds: number
  /** The directory of upstream's programs. */
  readonly upstream: string
  readonly isJson: boolean
  /** Whether to write the figures into docs/benchmarks.md. */
  readonly isRecorded: boolean
  /** The peers to measure, if a benchmark has several. */
  readonly only?: readonly string[]
  /** An etcd to compare with. */
  readonly etcdProgram?: string
  /** Measure these loads only, where a benchmark has several. */
  readonly loads?: readonly string[]
  /** The numbers of sites, where a benchmark simulates them. */
  readonly sites?: readonly number[]
}

/** Adds `test`, `build` and `bench`. Without a developer (in a packed program) they fail. */
export function addDeveloperCommands(program: Command, developer: Developer | undefined): void {
  addTest(program, developer)
  addBuild(program, developer)
  addBench(program, developer)
}

function ofSourceTree(command: string, developer: Developer | undefined): Developer {
  if (developer !== undefined) return developer
  throw new ExpectedError(
    `Cannot run ${command}: it needs the sources, and this is the packed program; clone the repository and run ./skerry ${command} there`,
    exitCodes.usage,
  )
}

function addTest(program: Command, developer: Developer | undefined): void {
  program
    .command('test')
    .description(
      'Prove the tree: types, lint, format, tidy, unit, integration and end-to-end tests',
    )
    .argument('[parts...]', 'only test files whose path contains one of these')
    .option(
      '--quick',
      'leave out dev/ (end to end, recorded answers, builds), the slowest files, and those that play faults',
    )
    .option(
      '--no-install',
      'run without the system packages that are missing; tests that need them fail',
    )
    .addHelpText('after', '\nExamples:\n  ./skerry test\n  ./skerry test tidy service-proxy\n')
    .action(async (only: string[], options: { quick?: boolean; install: boolean }) => {
      const { quick, install } = options
      const request = { only, isQuick: quick === true, skipsInstall: !install }
      process.exitCode = await ofSourceTree('test', developer).runTests(request)
    })
}

function addBuild(program: Command, developer: Developer | undefined): void {
  program
    .command('build')
    .description('Build the program as JavaScript, and as one executable file that includes Node')
    .option('--output-dir <path>', 'directory for both', 'dist')
    .option('--no-executable', 'leave out the executable file (150 MB)')
    .option('--agent-image <path>', "also write the agent's image as an OCI archive to this file")
    .addHelpText(
      'after',
      example(
        './skerry build',
        './skerry build --no-executable && npm pack',
        './skerry build --agent-image agent.tar',
      ),
    )
    .action(async (options: BuildRequest) => {
      for (const path of await ofSourceTree('build', developer).build(options)) console.log(path)
    })
}

interface BenchFlags {
  json: boolean | undefined
  rounds: number
  upstream: string
  record: boolean | undefined
  only: string[] | undefined
  etcdProgram: string | undefined
  loads: string[] | undefined
  sites: number[] | undefined
}

function addBench(program: Command, developer: Developer | undefined): void {
  program
    .command('bench')
    .description('Measure this program and its peers in turns on this machine')
    .argument(
      '<name>',
      'main (start, memory, pods), store (durable writes), disk-writes (bytes that disks are given), etcd (compared with etcd and kine), apiserver (compared with upstream), ha (three masters), tunnel (compared with other tunnels), hub-reconnect (all agents come back), fleet (compared with Karmada), fleet-scale (thousands of sites on one hub), hostile (how long others wait), provision (edge clusters of machines), service-groups (compared with SuperEdge and kube-proxy), virtual-clusters or idle-connections',
    )
    .option(
      '--rounds <number>',
      'number of measurements of each; the medians are shown',
      toRounds,
      5,
    )
    .option(
      '--upstream <dir>',
      'directory with kube-apiserver, etcd and the rest, built by dev/hack/upstream (peers of apiserver and disk-writes)',
      'node_modules/.cache/upstream/v1.36.3/bin',
    )
    .option(
      '--only <peer,...>',
      'compare only with these peers (tunnel; disk-writes: etcd, kine; etcd: etcd, kine-full, kine)',
      (text) => text.split(','),
    )
    .option(
      '--etcd-program <path>',
      'etcd to compare with (etcd). If omitted, the one that dev/hack/upstream built, or that of PATH, or of Debian 13',
    )
    .option(
      '--loads <load,...>',
      'measure only these (tunnel: on loopback; fleet: fleet, agent, 5000-nodes, virtual; fleet-scale: policy, objects, restart, away; hostile: its attacks; provision: copied, one-machine, three-machines, batch; service-groups: grids, nodes, services)',
      (text) => text.split(','),
    )
    .option(
      '--sites <number,...>',
      'numbers of simulated sites, measured one after the other (fleet-scale). If omitted, 1000,3000,10000',
      toSites,
    )
    .option('--json', 'print one JSON object per line instead of a table')
    .option('--record', 'write the figures and the machine into docs/benchmarks.md')
    .addHelpText('after', example('./skerry bench store', 'sudo ./skerry bench main --record'))
    .action(async (name: string, options: BenchFlags) => {
      await ofSourceTree('bench', developer).bench({
        name,
        rounds: options.rounds,
        upstream: options.upstream,
        isJson: options.json === true,
        isRecorded: options.record === true,
        ...(options.only ? { only: options.only } : {}),
        ...(options.etcdProgram ? { etcdProgram: options.etcdProgram } : {}),
        ...(options.loads ? { loads: options.loads } : {}),
        ...(options.sites ? { sites: options.sites } : {}),
      })
    })
}

function toSites(text: string): number[] {
  const numbers = text.split(',').map(Number)
  if (numbers.every((each) => Number.isInteger(each) && each >= 1 && each <= 10_000)) return numbers
  throw new InvalidArgumentError('use whole numbers from 1 to 10000, separated by commas')
}

function toRounds(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 100) return rounds
  throw new InvalidArgumentError('use a whole number from 1 to 100')
}
