import { posix } from 'node:path'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { must, places } from './commands.ts'
import { isConfigured } from './configure-machine.ts'
import { proxyFiles } from './proxy.ts'
import { takeNodeName } from './node-name.ts'

/** Copies the program to a machine. Files that are there already are not copied again. */
export async function installProgram(context: MachineContext): Promise<string> {
  const { edge, hub, shell, signal, print } = context
  const architecture = (await must(context, ['uname', '-m'], { isQuiet: true })).trim()
  const program = await hub.program(architecture, signal)
  checkVersion(edge, program.version)
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
  await shell.write(places.program, program.launcher(directory), 0o755)
  await installLibraries(context)
  const version = await must(context, [places.program, '--version'], { isQuiet: true })
  if (version.trim() === '') throw new StepError('the program does not say its version')
  return `skerry ${version.trim()}`
}

/** The hub may have been upgraded since the object was accepted. */
function checkVersion({ spec }: MachineContext['edge'], found: string): void {
  const { version } = spec
  if (version === undefined || found === version || found.startsWith(`${version}-`)) return
  const text = `spec.version asks for ${version}, and the hub has ${found.replace(/-[0-9a-f]{12}$/, '')}: change spec.version, or remove it`
  throw new StepError(text, { isFinal: true })
}

/** Returns the words that let apt use the proxy of the object. The file may hold a password, the words do not. */
function aptWords({ edge }: MachineContext): string[] {
  return isConfigured(edge) ? [`APT_CONFIG=${proxyFiles.apt}`] : []
}

/** A minimal Debian lacks two libraries of the engine; the program itself installs the rest. */
async function installLibraries(context: MachineContext): Promise<void> {
  const { exitCode } = await context.shell.run([places.program, '--version'], {
    signal: context.signal,
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
  const { edge, machine, shell } = context
  const nodeName = await takeNodeName(context)
  const plan = {
    clusterName: edge.spec.clusterName ?? edge.metadata.name ?? '',
    nodeName,
    role: machine.role,
    ...edge.spec.network,
  }
  const path = posix.join(places.settings, 'machine.json')
  await shell.write(path, JSON.stringify(plan), 0o600)
  const timeoutMs = provisioningBounds.steps.prepareMsMax
  const prepare = [places.program, 'machine', 'prepare', '--plan', path]
  await must(context, ['env', ...aptWords(context), ...prepare], { timeoutMs })
  return `node ${nodeName}`
}
