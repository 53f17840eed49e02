import { execFile } from 'node:child_process'
import { access, constants, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, messageOf, type Logger } from '@skerry/base'
import { installDebianEtcd } from './debian-etcd.ts'
import { isAtLeast, oldestVersion, readVersion } from './etcd-version.ts'
import { siteBounds } from '../limits-table.ts'

const execute = promisify(execFile)

export interface EtcdProgram {
  readonly path: string
  readonly version: string
}

const { askMs } = siteBounds.etcd.program

/** The place to which an offline package brings an etcd. The state of `skerry etcd` is in the directory `etcd` next to it. */
export const packagedEtcd = '/var/lib/skerry/etcd-program'

/**
 * Returns the given etcd, or else that of PATH if it is new enough, or else one that was installed below
 * `directory` or by an offline package, or else installs Debian 13's in `directory`. Throws ExpectedError that says what to install.
 */
export async function findEtcd(
  given: string | undefined,
  directory: string,
  log: Logger,
  signal: AbortSignal,
): Promise<EtcdProgram> {
  if (given !== undefined) return givenProgram(given, signal)
  const inPath = await versionOf('etcd', signal)
  if (inPath !== undefined && isAtLeast(inPath, oldestVersion)) {
    return { path: 'etcd', version: inPath }
  }
  const installed =
    (await installedIn(directory, signal)) ?? (await installedIn(packagedEtcd, signal))
  if (installed) return installed
  log.info('Installing etcd of Debian 13', { directory, inPath })
  const path = join(await installDebianEtcd(directory, signal), 'etcd')
  const version = await versionOf(path, signal)
  if (version !== undefined && isAtLeast(version, oldestVersion)) {
    log.info('Installed etcd', { path, version })
    return { path, version }
  }
  throw new ExpectedError(
    `Cannot start etcd: ${path} is installed and does not run here; install etcd ${oldestVersion} or newer and name it with --etcd-program`,
    exitCodes.missingDependency,
  )
}

/** Returns etcdutl next to that etcd, or that of PATH. Throws ExpectedError if there is none. */
export async function findEtcdutl(etcd: EtcdProgram, signal: AbortSignal): Promise<string> {
  const beside = join(dirname(etcd.path), 'etcdutl')
  const candidates = etcd.path.includes('/') ? [beside, 'etcdutl'] : ['etcdutl']
  for (const path of candidates) {
    const version = await versionOf(path, signal, 'version')
    if (version !== undefined && isAtLeast(version, oldestVersion)) return path
  }
  throw new ExpectedError(
    `Cannot find etcdutl ${oldestVersion} or newer next to ${etcd.path} or in PATH; install it there: it belongs to Debian's package etcd-client`,
    exitCodes.missingDependency,
  )
}

async function givenProgram(path: string, signal: AbortSignal): Promise<EtcdProgram> {
  const version = await versionOf(path, signal)
  if (version !== undefined && isAtLeast(version, oldestVersion)) return { path, version }
  const found =
    version === undefined ? 'does not run here, or is another program' : `is etcd ${version}`
  throw new ExpectedError(
    `Cannot start etcd: --etcd-program ${path} ${found}; name one of ${oldestVersion} or newer`,
    exitCodes.missingDependency,
  )
}

/** Installed versions are directories; the newest that runs is used. */
async function installedIn(
  directory: string,
  signal: AbortSignal,
): Promise<EtcdProgram | undefined> {
  const names = await readdir(directory).catch(() => [])
  const versions = names.filter((name) => /^\d+\.\d+\.\d+$/.test(name))
  versions.sort((a, b) => (isAtLeast(a, b) ? -1 : 1))
  for (const name of versions) {
    const path = join(directory, name, 'etcd')
    const version = await versionOf(path, signal)
    if (version !== undefined && isAtLeast(version, oldestVersion)) return { path, version }
  }
  return undefined
}

/** Resolves undefined if there is no such program, or it is another one. */
async function versionOf(
  path: string,
  signal: AbortSignal,
  word = '--version',
): Promise<string | undefined> {
  try {
    if (path.includes('/')) await access(path, constants.X_OK)
    const { stdout } = await execute(path, [word], { signal, timeout: askMs })
    return readVersion(stdout)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error) return undefined
    throw new Error(`Cannot ask ${path} for its version: ${messageOf(error)}`, { cause: error })
  }
}
