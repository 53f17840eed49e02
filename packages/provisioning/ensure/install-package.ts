import { posix } from 'node:path'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { must, places } from './commands.ts'
import { packageFor, packageOf, presentFiles, programFiles } from './copy-package.ts'
import { offlineAptScript } from './offline-apt.ts'
import { checkVersion } from './program-version.ts'

const { prepareMsMax } = provisioningBounds.steps

/** The libraries without which the program's engine does not start. */
const engineLibraries = ['libatomic1', 'libstdc++6']

/**
 * Unpacks the program of the offline package. It cannot check the package itself before it runs, so the hub, which has
 * checked the signature, lets the machine compare the files with their digests first.
 */
export async function installPackagedProgram(context: MachineContext): Promise<string> {
  const { edge, hub, machine, shell, signal } = context
  const { program, debs } = await packageFor(context)
  checkVersion(edge, { found: program.version, source: 'the package' })
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
  await shell.write(posix.join(directory, 'launcher'), launcher, 0o755)
  await shell.write(places.program, launcher, 0o755)
  await installLibraries(
    debs.map(({ file }) => file),
    context,
  )
  const version = await must(context, [places.program, '--version'], { isQuiet: true })
  if (version.trim() === '') throw new StepError('the program does not say its version')
  await hub.recordProgram(edge, { address: machine.address, version: program.version }, signal)
  return `skerry ${version.trim()}`
}

type Files = Parameters<typeof presentFiles>[0]

async function mustBeWhole(files: Files, context: MachineContext): Promise<void> {
  const whole = await presentFiles(files, context)
  const damaged = files.find(({ sha256 }) => !whole.has(sha256))
  if (damaged === undefined) return
  const text = `file ${damaged.sha256} of the package is damaged or gone; run the step CopyPackage again`
  throw new StepError(text)
}

async function installLibraries(debs: Files, context: MachineContext): Promise<void> {
  const { exitCode } = await context.shell.run([places.program, '--version'], {
    signal: context.signal,
  })
  if (exitCode === 0) return
  const whole = await presentFiles(debs, context)
  const input = [...whole].map((sum) => `${sum}\n`).join('')
  const script = ['sh', '-c', offlineAptScript, 'sh', places.blobs, ...engineLibraries] as const
  await must(context, script, { input, timeoutMs: prepareMsMax })
}

/** Installs system packages and images of the offline package. The program on the machine checks and does it. */
export async function installPackage(context: MachineContext): Promise<string> {
  const { digest, publicKey } = packageOf(context)
  const keyFile = posix.join(places.settings, 'package.pub')
  await context.shell.write(keyFile, publicKey, 0o644)
  const words = ['install-package', '--package', digest, '--public-key-file', keyFile]
  const text = await must(context, [places.program, 'machine', ...words], {
    timeoutMs: prepareMsMax,
  })
  return text.trimEnd().split('\n').at(-1)?.trim() ?? ''
}
