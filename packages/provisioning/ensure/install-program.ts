import { posix } from 'node:path'
import { packageInForce } from '../kind/package-in-force.ts'
import { provisioningBounds } from '../limits-table.ts'
import {
  StepError,
  type MachineContext,
  type ProgramFiles,
  type ProgramWish,
} from '../contract/step.ts'
import { ask, must, places } from './commands.ts'
import { isConfigured } from './configure-machine.ts'
import { versionAbove } from './program-on-machine.ts'
import { proxyFiles } from './proxy.ts'
import { writePlan } from './plan-on-machine.ts'
import { installPackagedProgram } from './install-package.ts'
import { nodeNameOf, takeNodeName } from './node-name.ts'

/** Copies the program to a machine. Files that are there already are not copied again. */
export async function installProgram(context: MachineContext): Promise<string> {
  const { edge, hub, machine, shell, signal } = context
  if (packageInForce(edge) !== undefined) return installPackagedProgram(context)
  const architecture = (await ask(context, ['uname', '-m'])).trim()
  // A machine that is added after an upgrade gets what the masters have.
  const program = await hub.program(architecture, signal, wishOf(edge, versionAbove(context)))
  const directory = await copyProgram(program, context)
  await shell.write(places.program, program.launcher(directory), 0o755)
  await installLibraries(context)
  const version = await ask(context, [places.program, '--version'])
  if (version.trim() === '') throw new StepError('the program does not say its version')
  await hub.recordProgram(edge, { address: machine.address, version: program.version }, signal)
  return `skerry ${version.trim()}`
}

/** Copies a program next to those that are there, with a launcher of its own. Resolves with its directory. */
export async function copyProgram(program: ProgramFiles, context: MachineContext): Promise<string> {
  const { shell, signal, print } = context
  const directory = posix.join(places.programs, program.version)
  for (const { from, to, mode } of program.files) {
    print(`copying ${to}`)
    await shell.upload(from, posix.join(directory, to), mode, signal)
  }
  if (program.archive !== undefined) {
    print('copying the program')
    const archive = posix.join(directory, 'program.tar')
    await shell.upload(program.archive, archive, 0o600, signal)
    await must(context, ['tar', '-x', '-f', archive, '-C', directory, '--no-same-owner'])
  }
  await shell.write(posix.join(directory, 'launcher'), program.launcher(directory), 0o755)
  return directory
}

/** The object's own version counts for the first program of a cluster: upgrades are jobs. */
function wishOf(
  { spec }: MachineContext['edge'],
  above: string | undefined,
): ProgramWish | undefined {
  if (above !== undefined) return { fitsMaster: above }
  return spec.version === undefined ? undefined : { version: spec.version }
}

/** Returns the words that let apt use the proxy of the object. The file may hold a password, the words do not. */
function aptWords({ edge }: MachineContext): string[] {
  return isConfigured(edge) ? [`APT_CONFIG=${proxyFiles.apt}`] : []
}

/** Lets the program on the machine install packages and units, by the proxy of the object if it has one. */
export async function prepare(context: MachineContext, plan: string): Promise<void> {
  const timeoutMs = provisioningBounds.steps.prepareMsMax
  const words = aptWords(context)
  const command = [places.program, 'machine', 'prepare', '--plan', plan] as const
  await must(context, words.length === 0 ? command : ['env', ...words, ...command], { timeoutMs })
}

/** A minimal Debian lacks two libraries of the engine; the program itself installs the rest. */
async function installLibraries(context: MachineContext): Promise<void> {
  const { exitCode } = await context.shell.run([places.program, '--version'], {
    signal: context.signal,
    keepsFiles: true,
  })
  if (exitCode === 0) return
  const timeoutMs = provisioningBounds.steps.prepareMsMax
  const apt = [
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    ...aptWords(context),
    'apt-get',
    '-qq',
  ] as const
  await must(context, [...apt, 'update'], { timeoutMs })
  const install = [...apt, 'install', '-y', '--no-install-recommends'] as const
  await must(context, [...install, 'libatomic1', 'libstdc++6'], { timeoutMs })
}

/** Installs packages and units, and sets what must outlive a reboot. The program on the machine does it. */
export async function prepareMachine(context: MachineContext): Promise<string> {
  const { machine } = context
  // A witness has no node, whose name others could want.
  const nodeName = await (machine.role === 'Witness' ? nodeNameOf : takeNodeName)(context)
  await prepare(context, await writePlan(context))
  return `${machine.role === 'Witness' ? 'witness' : 'node'} ${nodeName}`
}
