import { posix } from 'node:path'
import type { MachinePackage } from '../contract/machine-package.ts'
import type { PackageSource } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { ask, must, places } from './commands.ts'
import { packageFor, packageOf, presentFiles, programFiles } from './copy-package.ts'
import { offlineAptScript } from './offline-apt.ts'
import { versionAbove, whyNoPair } from './program-on-machine.ts'
import { checkVersion } from './program-version.ts'
import { writePlan } from './plan-on-machine.ts'

const { prepareMsMax } = provisioningBounds.steps

/** The libraries without which the program's engine does not start. */
const engineLibraries = ['libatomic1', 'libstdc++6']

/**
 * Unpacks the program of the offline package. It cannot check the package itself before it runs, so the hub, which has
 * checked the signature, lets the machine compare the files with their digests first.
 */
export async function installPackagedProgram(context: MachineContext): Promise<string> {
  const { edge, hub, machine, shell, signal } = context
  const { program, debs } = await packageFor(packageOf(context), context)
  // A job has changed the version since the object was written.
  if (edge.status?.package === undefined) {
    checkVersion(edge, { found: program.version, source: 'the package' })
  }
  mustFitMaster(program.version, context)
  const launcher = await unpackProgram(program, context)
  await shell.write(places.program, launcher, 0o755)
  await installLibraries(places.program, debs, context)
  const version = await ask(context, [places.program, '--version'])
  if (version.trim() === '') throw new StepError('the program does not say its version')
  await hub.recordProgram(edge, { address: machine.address, version: program.version }, signal)
  return `skerry ${version.trim()}`
}

/** The object may name a newer package than its master has taken. */
function mustFitMaster(version: string, context: MachineContext): void {
  const above = versionAbove(context)
  const why = above === undefined ? undefined : whyNoPair(version, above)
  if (why === undefined) return
  const text = `the package does not fit the master: ${why}; upgrade the cluster with "skerry upgrade edge-cluster --package", or change spec.package`
  throw new StepError(text, { isFinal: true })
}

/** Unpacks the program of a package next to those that are there. Resolves with the text of its launcher. */
export async function unpackProgram(
  program: MachinePackage['program'],
  context: MachineContext,
): Promise<string> {
  await mustBeWhole(programFiles(program), context)
  const directory = posix.join(places.programs, program.version)
  for (const { file, to } of program.files) {
    const target = posix.join(directory, to)
    const from = posix.join(places.blobs, file.sha256)
    await must(context, ['install', '-D', '-m', '0755', '--', from, `${target}.skerry-new`])
    await must(context, ['mv', '-fT', '--', `${target}.skerry-new`, target])
  }
  await must(context, ['install', '-d', '-m', '0755', '--', directory])
  if (program.archive !== undefined) {
    const archive = posix.join(places.blobs, program.archive.sha256)
    await must(context, ['tar', '-x', '-f', archive, '-C', directory, '--no-same-owner'])
  }
  const launcher = program.launcher(directory)
  await context.shell.write(posix.join(directory, 'launcher'), launcher, 0o755)
  return launcher
}

type Files = Parameters<typeof presentFiles>[0]

async function mustBeWhole(files: Files, context: MachineContext): Promise<void> {
  const whole = await presentFiles(files, context)
  const damaged = files.find(({ sha256 }) => !whole.has(sha256))
  if (damaged === undefined) return
  const text = `file ${damaged.sha256} of the package is damaged or gone; run the step CopyPackage again`
  throw new StepError(text)
}

/** Installs the libraries of the engine from the package if the program does not start without them. */
export async function installLibraries(
  program: string,
  debs: MachinePackage['debs'],
  context: MachineContext,
): Promise<void> {
  const { exitCode } = await context.shell.run([program, '--version'], {
    signal: context.signal,
    keepsFiles: true,
  })
  if (exitCode === 0) return
  const files = debs.map(({ file }) => file)
  const whole = await presentFiles(files, context)
  const input = [...whole].map((sum) => `${sum}\n`).join('')
  const script = ['sh', '-c', offlineAptScript, 'sh', places.blobs, ...engineLibraries] as const
  await must(context, script, { input, timeoutMs: prepareMsMax })
}

/**
 * Installs system packages and images of the offline package. The program on the machine checks and does it, by the plan,
 * which may ask for more than a node.
 */
export async function installPackage(context: MachineContext): Promise<string> {
  await writePlan(context)
  return installParts(places.program, packageOf(context), context)
}

/** Lets a program on the machine install system packages and images of a package that was copied there. */
export async function installParts(
  program: string,
  { digest, publicKey }: PackageSource,
  context: MachineContext,
): Promise<string> {
  await context.shell.write(places.packageKey, publicKey, 0o644)
  const words = ['install-package', '--package', digest, '--public-key-file', places.packageKey]
  const text = await must(context, [program, 'machine', ...words], { timeoutMs: prepareMsMax })
  return text.trimEnd().split('\n').at(-1)?.trim() ?? ''
}
