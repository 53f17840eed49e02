import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { mirrorsIn, type Mirrors } from './debian-mirrors.ts'
import { siteBounds } from '../limits-table.ts'

const execute = promisify(execFile)

const suite = 'trixie'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
/** Debian's packages with the programs. */
export const etcdPackages: readonly string[] = ['etcd-server', 'etcd-client']
const programs = ['etcd', 'etcdctl', 'etcdutl']
const { installMs, outputBytesMax } = siteBounds.etcd.program

/**
 * Downloads Debian 13's etcd with apt from the mirror that this machine uses, verified by Debian's keys, and unpacks it
 * below `directory`. apt has sources and indexes of its own for it, so the system's packages stay those of one suite.
 * Resolves with the directory of the programs. Throws ExpectedError that says what to install.
 */
export async function installDebianEtcd(directory: string, signal: AbortSignal): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o755 })
  const work = await mkdtemp(join(directory, '.installing-'))
  try {
    const sources = sourcesOf(await mirrors(signal))
    const debs = await downloaded(work, sources, signal)
    const version = debs.map((deb) => /etcd-server_(\d+\.\d+\.\d+)/.exec(deb)?.[1]).find(Boolean)
    if (version === undefined) throw refusal('apt brought no etcd-server')
    return await unpackEtcd({ debs, version, directory }, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ExpectedError) throw error
    throw refusal(lastLineOf(error), error)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Takes the programs out of Debian's packages, into a directory below this one with the name of their version. */
export async function unpackEtcd(
  {
    debs,
    version,
    directory,
  }: { readonly debs: readonly string[]; readonly version: string; readonly directory: string },
  signal: AbortSignal,
): Promise<string> {
  const work = await mkdtemp(join(directory, '.unpacking-'))
  try {
    const root = join(work, 'root')
    for (const deb of debs) await execute('dpkg-deb', ['-x', deb, root], { signal })
    const target = join(directory, version)
    const prepared = join(work, version)
    await mkdir(prepared)
    for (const name of programs) await rename(join(root, 'usr', 'bin', name), join(prepared, name))
    await rm(target, { recursive: true, force: true })
    await rename(prepared, target)
    return target
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function mirrors(signal: AbortSignal): Promise<Mirrors> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const codename = /^VERSION_CODENAME="?(\w+)"?$/m.exec(release)?.[1]
  if (!/^ID=debian$/m.test(release) || codename === undefined) {
    throw refusal('this system is not Debian')
  }
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)'
  const { stdout } = await execute(
    'apt-get',
    ['indextargets', '--format', format, 'Created-By: Packages'],
    { signal },
  )
  const found = mirrorsIn(stdout, codename)
  if (found) return found
  throw refusal(`apt has no mirror of Debian ${codename}`)
}

function sourcesOf({ main, security }: Mirrors): string {
  const from = `deb [signed-by=${keyring} target=Packages lang=none]`
  const lines = [`${from} ${main} ${suite} main`]
  if (security !== undefined) lines.push(`${from} ${security} ${suite}-security main`)
  return `${lines.join('\n')}\n`
}

/** Settings that keep apt in its own directory; its proxy and passwords for mirrors stay those of the system. */
function settingsOf(work: string): string {
  const path = (name: string): string => join(work, name)
  return [
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    `Dir::Etc::SourceList "${path('sources.list')}";`,
    'Dir::Etc::SourceParts "/dev/null";',
    'Dir::Etc::Preferences "/dev/null";',
    'Dir::Etc::PreferencesParts "/dev/null";',
    `Dir::State::Lists "${path('lists')}";`,
    `Dir::Cache "${path('cache')}";`,
    // The site may be without the right to become apt's own user.
    'APT::Sandbox::User "root";',
    'APT::Default-Release "";',
    'Acquire::Languages "none";',
    'Acquire::AllowInsecureRepositories "false";',
    '',
  ].join('\n')
}

async function downloaded(work: string, sources: string, signal: AbortSignal): Promise<string[]> {
  const settings = join(work, 'apt.conf')
  const debs = join(work, 'debs')
  for (const name of ['lists/partial', 'cache/archives/partial', 'debs']) {
    await mkdir(join(work, name), { recursive: true })
  }
  await writeFile(join(work, 'sources.list'), sources)
  await writeFile(settings, settingsOf(work))
  const options = {
    signal,
    cwd: debs,
    timeout: installMs,
    maxBuffer: outputBytesMax,
    env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
  }
  await execute('apt-get', ['-c', settings, '-qq', '--error-on=any', 'update'], options)
  await execute('apt-get', ['-c', settings, '-qq', 'download', ...etcdPackages], options)
  const names = await readdir(debs)
  return names.filter((name) => name.endsWith('.deb')).map((name) => join(debs, name))
}

/** apt explains itself on stderr. */
function lastLineOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  return text.split('\n').at(-1) || messageOf(error)
}

function refusal(why: string, cause?: unknown): ExpectedError {
  return new ExpectedError(
    `Cannot install etcd of Debian 13: ${why}; install etcd 3.5.13 or newer with etcdutl, e.g. from https://github.com/etcd-io/etcd/releases, and name it with --etcd-program`,
    exitCodes.missingDependency,
    { cause },
  )
}
