import { InvalidArgumentError, type Command } from 'commander'
import { example } from './role-commands.ts'
import { requireSourceTree } from './source-tree.ts'

/** What is done to the repository itself: artefacts and measurements. */
export function addBuildCommands(program: Command): void {
  addBuild(program)
  addBench(program)
}

function addBuild(program: Command): void {
  program
    .command('build')
    .description('Build the program without TypeScript, and one executable file of it with Node')
    .option('--output-dir <path>', 'where to put both', 'dist')
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
    .action(async (options: BuildFlags) => {
      requireSourceTree('build')
      const { buildProgram } = await import('./build.ts')
      for (const path of await buildProgram(options)) console.log(path)
    })
}

interface BuildFlags {
  outputDir: string
  executable: boolean
  agentImage: string | undefined
}

interface BenchFlags {
  json: boolean | undefined
  rounds: number
  upstream: string
  record: boolean | undefined
  only: string[] | undefined
  loads: string[] | undefined
}

function addBench(program: Command): void {
  program
    .command('bench')
    .description('Measure this program beside its peers, in turns, on this machine')
    .argument(
      '<name>',
      'main (start, memory, pods), store (durable writes), apiserver (beside upstream), tunnel (beside other tunnels), hub-reconnect (all agents come back), fleet (beside Karmada), hostile (what others wait), virtual-clusters or idle-connections',
    )
    .option('--rounds <number>', 'how often each is measured; medians are shown', toRounds, 5)
    .option(
      '--upstream <dir>',
      "kube-apiserver, etcd and the others, as hack/upstream builds them (apiserver's peer)",
      'node_modules/.cache/upstream/v1.36.3/bin',
    )
    .option('--only <peer,...>', 'beside these only (tunnel)', (text) => text.split(','))
    .option(
      '--loads <load,...>',
      'these only (tunnel: on loopback; fleet: fleet, agent, 5000-nodes, virtual; hostile: its attacks)',
      (text) => text.split(','),
    )
    .option('--json', 'one JSON object a line instead of a table')
    .option('--record', 'write the figures and the machine into docs/benchmarks.md')
    .addHelpText('after', example('./skerry bench store', 'sudo ./skerry bench main --record'))
    .action(async (name: string, options: BenchFlags) => {
      requireSourceTree('bench')
      const { runBench } = await import('./bench.ts')
      await runBench({
        name,
        rounds: options.rounds,
        upstream: options.upstream,
        isJson: options.json === true,
        isRecorded: options.record === true,
        ...(options.only ? { only: options.only } : {}),
        ...(options.loads ? { loads: options.loads } : {}),
      })
    })
}

function toRounds(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 100) return rounds
  throw new InvalidArgumentError('use a whole number from 1 to 100')
}
