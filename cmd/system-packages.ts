import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'

const execute = promisify(execFile)

/** A program the node runs, and the Debian package that brings it. */
interface Requirement {
  program: string
  debianPackage: string
  /** Where it is looked for besides the usual directories. */
  directories?: readonly string[]
}

const usualDirectories = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
]

export const requirements: readonly Requirement[] = Object.freeze([
  { program: 'containerd', debianPackage: 'containerd' },
  { program: 'ctr', debianPackage: 'containerd' },
  { program: 'runc', debianPackage: 'runc' },
  {
    program: 'bridge',
    debianPackage: 'containernetworking-plugins',
    directories: ['/usr/lib/cni'],
  },
  { program: 'nft', debianPackage: 'nftables' },
  { program: 'ip', debianPackage: 'iproute2' },
  { program: 'iptables', debianPackage: 'iptables' },
  { program: 'conntrack', debianPackage: 'conntrack' },
  { program: 'mount', debianPackage: 'mount' },
  { program: 'tar', debianPackage: 'tar' },
])

/** The Debian packages whose programs are not there. */
export async function findMissingPackages(): Promise<string[]> {
  const missing = new Set<string>()
  for (const requirement of requirements) {
    if (!(await isFound(requirement))) missing.add(requirement.debianPackage)
  }
  return [...missing]
}

async function isFound({ program, directories = usualDirectories }: Requirement): Promise<boolean> {
  for (const directory of directories) {
    try {
      await access(join(directory, program), constants.X_OK)
      return true
    } catch (error) {
      if (!isMissingFile(error)) throw error
    }
  }
  return false
}

function isMissingFile(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'EACCES')
  )
}

/**
 * Installs them with apt. A system without apt gets an error that names what to install.
 * containerd's own service is not started: the node runs its own.
 */
export async function installPackages(
  packages: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const apt = '/usr/bin/apt-get'
  if (!(await isFound({ program: 'apt-get', debianPackage: 'apt' }))) {
    throw new ExpectedError(
      `Cannot install ${packages.join(', ')}: this system has no apt; install them and run again`,
      exitCodes.missingDependency,
    )
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const options = { env, signal, maxBuffer: 64 * 1024 * 1024 }
  try {
    await execute(apt, ['update', '-qq'], options)
    await execute(apt, ['install', '-y', '-qq', '--no-install-recommends', ...packages], options)
  } catch (error) {
    throw new ExpectedError(
      `Cannot install ${packages.join(', ')}: apt-get failed; run "apt-get install ${packages.join(' ')}" and read what it says`,
      exitCodes.missingDependency,
      { cause: error },
    )
  }
}
