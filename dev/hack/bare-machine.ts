/**
 * Proves the two commands of README.md on a machine that has Node, npm and apt, and nothing else:
 *   node dev/hack/bare-machine.ts                          ./skerry up, down and reset, then ./skerry test
 *   node dev/hack/bare-machine.ts --only up
 *   node dev/hack/bare-machine.ts --only test -- e2e/up    these words for ./skerry test
 *   node dev/hack/bare-machine.ts --only shell             a shell there
 * The machine is a root directory made by mmdebstrap from the last commit and entered in namespaces
 * of its own; the only way out of its network leads to the package registries that the host uses.
 * Needs root, and the packages mmdebstrap, iproute2 and git. Nothing stays on the host.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hostSuite } from '@skerry/testing'
import { clonePath, makeBareRoot } from './bare-machine/bare-root.ts'
import { readHostRegistries } from './bare-machine/host-registries.ts'
import { type Machine, startMachine } from './bare-machine/machine.ts'
import { startRegistryProxy } from './bare-machine/registry-proxy.ts'

const { values, positionals } = parseArgs({
  options: { only: { type: 'string' }, suite: { type: 'string' } },
  allowPositionals: true,
})

type Part = (machine: Machine) => Promise<Check[]>

interface Check {
  name: string
  isGood: boolean
}

const parts: Readonly<Record<string, Part>> = { up: tryUp, test: tryTest, shell: openShell }

async function main(): Promise<void> {
  const names = values.only === undefined ? ['up', 'test'] : [values.only]
  const chosen = names.map((name) => parts[name])
  if (!chosen.every((part) => part !== undefined)) {
    throw new Error(`Cannot run part ${values.only}: there are ${Object.keys(parts).join(', ')}`)
  }
  const suite = values.suite ?? (await hostSuite())
  const registries = await readHostRegistries(suite)
  const stop = new AbortController()
  const { signal } = stop
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort(new Error(name)))
  console.log(`Making a machine of ${suite} ...`)
  const repository = join(import.meta.dirname, '../..')
  await using root = await makeBareRoot({ suite, repository, signal }, registries)
  await using machine = await startMachine(root.path, signal)
  await using _proxy = await startRegistryProxy(registries.ways, machine.pid)
  const checks: Check[] = []
  for (const part of chosen) checks.push(...(await part(machine)))
  for (const { name, isGood } of checks) console.log(`${isGood ? '✔' : '✖'} ${name}`)
  const failed = checks.filter(({ isGood }) => !isGood).length
  console.log(`bare machine: ${checks.length - failed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

/** The first command of README.md, twice, and what takes it back. */
async function tryUp(machine: Machine): Promise<Check[]> {
  const before = await machine.ask(stateCommand)
  const checks: Check[] = []
  for (const words of [
    ['up', '--detach'],
    ['status'],
    ['down'],
    ['up', '--detach'],
    ['status'],
    ['reset', '--yes'],
  ]) {
    checks.push(await trySkerry(machine, words))
  }
  return [...checks, await checkLeftOver(machine, before)]
}

/** The second command of README.md, or a part of it. */
async function tryTest(machine: Machine): Promise<Check[]> {
  const before = await machine.ask(stateCommand)
  const check = await trySkerry(machine, ['test', ...positionals])
  // iproute2 keeps the first. Other runs of the tests may share the second, which is empty.
  const kept = /^(mount \/run\/netns|group \S+\/skerry)$/
  return [check, await checkLeftOver(machine, before, kept)]
}

async function openShell(machine: Machine): Promise<Check[]> {
  await machine.run(['bash'], { cwd: clonePath, terminal: true })
  return []
}

async function trySkerry(machine: Machine, words: readonly string[]): Promise<Check> {
  const name = ['./skerry', ...words].join(' ')
  console.log(`\n$ ${name}`)
  const started = performance.now()
  const code = await machine.run(['./skerry', ...words], { cwd: clonePath })
  const seconds = ((performance.now() - started) / 1_000).toFixed(0)
  return { name: `${name} (exit code ${code}, ${seconds} s)`, isGood: code === 0 }
}

/** Lists processes with their programs, network devices, mounts and control groups. */
const stateCommand = [
  'sh',
  '-c',
  [
    'for each in /proc/[0-9]*; do [ ! -e $each/exe ] || echo "process $(readlink $each/exe)"; done',
    'for each in /sys/class/net/*; do echo "device ${each##*/}"; done',
    'while read -r _ _ _ _ point _; do echo "mount $point"; done < /proc/self/mountinfo',
    'find /sys/fs/cgroup -type d -printf "group %p\\n"',
  ].join('; '),
]

/** Checks that neither the commands nor the packages that they install leave anything running. */
async function checkLeftOver(machine: Machine, before: string, kept = /^$/): Promise<Check> {
  const known = new Set(before.split('\n'))
  const added = (await machine.ask(stateCommand))
    .split('\n')
    .filter((line) => !known.has(line) && !kept.test(line))
  for (const line of added) console.log(`left behind: ${line}`)
  return { name: 'nothing is left behind', isGood: added.length === 0 }
}

await main()
