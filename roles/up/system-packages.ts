import { execFile, type ExecFileOptions } from 'node:child_process'
import { constants } from 'node:fs'
import { access, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { systemPrograms, type ProgramUser, type SystemProgram } from './programs-table.ts'

const execute = promisify(execFile)

const usualDirectories = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
]

/** The programs of these users that this machine lacks. */
export async function findMissingPrograms(
  users: readonly ProgramUser[],
  programs = systemPrograms,
): Promise<SystemProgram[]> {
  const missing: SystemProgram[] = []
  for (const each of programs) {
    if (users.includes(each.neededBy) && !(await isFound(each))) missing.push(each)
  }
  return missing
}

export function packagesOf(programs: readonly SystemProgram[]): string[] {
  return [...new Set(programs.map(({ debianPackage }) => debianPackage))]
}

async function isFound({ program, directories, isStatic }: SystemProgram): Promise<boolean> {
  for (const directory of directories ?? usualDirectories) {
    const path = join(directory, program)
    try {
      await access(path, constants.X_OK)
    } catch (error) {
      if (isMissingFile(error)) continue
      throw error
    }
    if (isStatic !== true || (await isStaticProgram(path))) return true
  }
  return false
}

/** A dynamic program names its loader, e.g. /lib64/ld-linux-x86-64.so.2, right behind its headers. */
async function isStaticProgram(path: string): Promise<boolean> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0)
  return !/\/ld-[\w.-]+\.so/.test(buffer.toString('latin1', 0, bytesRead))
}

function isMissingFile(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'EACCES')
  )
}

/** Files of Debian packages, from which apt installs without any other source. */
interface PackageFiles {
  /** Each file is named by its SHA-256. */
  readonly directory: string
  readonly digests: readonly string[]
  /** Installs from such files; see offlineAptScript of provisioning. */
  readonly script: string
}

/** How apt installs. */
interface AptOptions {
  /** If omitted, apt uses its sources. */
  readonly files?: PackageFiles
  /** A file with settings of apt, which may hold the login of a proxy. */
  readonly configFile?: string
}

/**
 * Installs their packages with apt, from its sources or from files. A system without apt gets an error that names the packages. Their
 * services start neither now nor at boot: this program starts its own processes.
 */
export async function installPrograms(
  programs: readonly SystemProgram[],
  signal: AbortSignal,
  { files, configFile }: AptOptions = {},
): Promise<void> {
  const packages = packagesOf(programs)
  if (!(await isFound({ program: 'apt-get', debianPackage: 'apt', neededBy: 'node' }))) {
    throw new ExpectedError(
      `Cannot install ${packages.join(', ')}: this system has no apt; install them and run again`,
      exitCodes.missingDependency,
    )
  }
  // An init system other than systemd starts no service in runlevel 1.
  const own = configFile === undefined ? {} : { APT_CONFIG: configFile }
  const env = { ...process.env, ...own, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const options = { env, signal, maxBuffer: 64 * 1024 * 1024 }
  const services = programs.flatMap(({ service }) => (service === undefined ? [] : [service]))
  await using _asleep = await keepServicesAsleep(services)
  // Without await, the services would wake while apt is at work.
  if (files !== undefined) return await installFromFiles(packages, files, signal)
  try {
    await finishInterrupted(options)
    await execute('apt-get', [...patient, 'update', '-qq'], options)
    await execute(
      'apt-get',
      [...patient, 'install', '-y', '-qq', '--no-install-recommends', ...packages],
      options,
    )
  } catch (error) {
    throw new ExpectedError(
      `Cannot install ${packages.join(', ')}: apt-get failed; run "apt-get install ${packages.join(' ')}" and read its output`,
      exitCodes.missingDependency,
      { cause: error },
    )
  }
}

/** A fresh Ubuntu or Debian of a cloud updates itself in its first minutes, and holds the lock of dpkg meanwhile. */
const patient = ['-o', 'DPkg::Lock::Timeout=300']

/** dpkg refuses everything after a power cut until its unfinished packages are configured. */
async function finishInterrupted(options: ExecFileOptions): Promise<void> {
  const journal = await readdir('/var/lib/dpkg/updates').catch(() => [])
  if (!journal.some((name) => /^\d+$/.test(name))) return
  const words = ['--force-confdef', '--force-confold', '--configure', '-a']
  await execute('dpkg', words, options)
}

async function installFromFiles(
  packages: readonly string[],
  { directory, digests, script }: PackageFiles,
  signal: AbortSignal,
): Promise<void> {
  const options = { signal, maxBuffer: 64 * 1024 * 1024 }
  const running = execute('sh', ['-c', script, 'sh', directory, ...packages], options)
  running.child.stdin?.on('error', () => undefined)
  running.child.stdin?.end(digests.map((each) => `${each}\n`).join(''))
  try {
    await running
  } catch (error) {
    signal.throwIfAborted()
    const text = `Cannot install ${packages.join(', ')} from the offline package: ${lastLineOf(error)}`
    throw new ExpectedError(text, exitCodes.missingDependency, { cause: error })
  }
}

/** apt explains itself on stderr. */
function lastLineOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  return text.split('\n').at(-1) || messageOf(error)
}

/**
 * Masks services while packages are installed. Under systemd a package starts and enables its services as it
 * is installed. Masked, they do not start; the mask is in /run, which a reboot clears even if this process is
 * killed here.
 */
async function keepServicesAsleep(services: readonly string[]): Promise<AsyncDisposable> {
  const isUsed = services.length > 0 && (await isSystemdRunning())
  if (isUsed) await execute('systemctl', ['mask', '--runtime', ...services])
  return {
    async [Symbol.asyncDispose]() {
      if (!isUsed) return
      await execute('systemctl', ['unmask', '--runtime', ...services])
      // The program systemctl has just answered, so it refuses for one reason only: apt could not install the
      // package, which left no unit to disable. The error of apt reports that.
      for (const service of services) {
        await execute('systemctl', ['disable', service]).catch(() => undefined)
      }
    },
  }
}

/** Checks as sd_booted(3) does. */
async function isSystemdRunning(): Promise<boolean> {
  try {
    return (await stat('/run/systemd/system')).isDirectory()
  } catch (error) {
    if (isMissingFile(error)) return false
    throw error
  }
}
