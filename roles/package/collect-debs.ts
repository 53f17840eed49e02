import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, messageOf, type Clock, type Random } from '@skerry/base'
import type { Architecture } from '@skerry/offline-package'
import { takeFileTurn } from '@skerry/store'
import { releaseSources, type ReleaseSource } from './releases-table.ts'

const execute = promisify(execFile)

export interface DebRequest {
  /** A key of the table of releases. */
  readonly release: string
  readonly architecture: Architecture
  /** The packages that are wanted; what they depend on follows. */
  readonly packages: readonly string[]
  /** True: nothing of what they depend on follows. */
  readonly isAlone?: boolean
  /** Where indexes and packages are kept, so that nothing is downloaded twice. */
  readonly cacheDirectory: string
  /** Other places than those of the table. */
  readonly mirror?: string | undefined
  readonly securityMirror?: string | undefined
  readonly keyring?: string | undefined
}

export interface CollectDeps {
  readonly clock: Clock
  readonly random: Random
}

/** A downloaded package, with the names that it gives itself. */
export interface CollectedDeb {
  readonly path: string
  readonly name: string
  readonly version: string
  readonly architecture: string
}

/**
 * Downloads packages with everything that they depend on, by apt in a directory of its own: the host's sources, packages
 * and lists play no part, and apt checks the signatures of the archive. Waits while another process uses the directory.
 * Rejects with an ExpectedError.
 */
export async function collectDebs(
  asked: DebRequest,
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<CollectedDeb[]> {
  // apt runs in directories of its own, where a relative path would mean another place.
  const request = { ...asked, cacheDirectory: resolve(asked.cacheDirectory) }
  const { release, architecture, cacheDirectory } = request
  checkCacheDirectory(cacheDirectory)
  try {
    // apt itself fails at once where another one works.
    using _turn = await takeFileTurn(join(cacheDirectory, 'turn'), deps, signal)
    const apt = await openApt(request)
    await apt(['update', '-qq', '--error-on=any'], signal)
    const wanted =
      request.isAlone === true
        ? ['download', ...request.packages]
        : ['install', '-y', '--no-install-recommends', ...request.packages]
    const empty = ['-o', `Dir::Cache::archives=${join(request.cacheDirectory, 'nothing')}`]
    // apt lists no file that is in its cache or its directory already.
    const listed = parseUris(await apt([...empty, '--print-uris', '-qq', ...wanted], signal, true))
    await apt(['--download-only', '-qq', ...wanted], signal)
    const found: CollectedDeb[] = []
    for (const each of listed) {
      const path = join(request.cacheDirectory, 'archives', each.file)
      await compare(path, each, signal)
      found.push({ path, ...(await namesOf(path, signal)) })
    }
    return found.toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ExpectedError) throw error
    const text = `Cannot collect packages of ${release} for ${architecture}: ${lastWords(error)}; check the mirror and the network`
    throw new ExpectedError(text, exitCodes.failure, { cause: error })
  }
}

/** apt's settings have no way to quote other characters. */
function checkCacheDirectory(path: string): void {
  if (/^[\w./+@:-]+$/.test(path)) return
  const text = `Cannot use --cache-dir ${path}: its path may have letters, digits and . _ + @ : - only`
  throw new ExpectedError(text, exitCodes.usage)
}

/** Runs apt in the directory of archives, or in the empty one. */
type Apt = (words: readonly string[], signal: AbortSignal, isEmpty?: boolean) => Promise<string>

/** Makes the directory of apt: no package is installed there, so everything that is needed is downloaded. */
async function openApt(request: DebRequest): Promise<Apt> {
  const { cacheDirectory: root, architecture, release } = request
  const source = releaseSources[release]
  if (source === undefined) throw unknownRelease(release)
  for (const each of ['lists/partial', 'archives/partial', 'nothing/partial']) {
    await mkdir(join(root, each), { recursive: true })
  }
  await writeFile(join(root, 'status'), '')
  await writeFile(join(root, 'sources.list'), await sourceLines(source, request))
  const own = debianArchitecture(architecture)
  const settings = [
    ...(await hostSettings()),
    `APT::Architecture "${own}";`,
    `APT::Architectures { "${own}"; };`,
    'APT::Sandbox::User "root";',
    'APT::Install-Recommends "false";',
    'Acquire::Languages "none";',
    // Without it, the list of files has MD5 sums.
    'Acquire::ForceHash "SHA256";',
    `Dir::State::lists "${root}/lists";`,
    `Dir::State::status "${root}/status";`,
    `Dir::State::extended_states "${root}/extended_states";`,
    `Dir::Cache::archives "${root}/archives";`,
    `Dir::Cache::pkgcache "";`,
    `Dir::Cache::srcpkgcache "";`,
    `Dir::Etc::sourcelist "${root}/sources.list";`,
    ...['main', 'parts', 'sourceparts', 'preferences', 'preferencesparts', 'trustedparts'].map(
      (each) => `Dir::Etc::${each} "/dev/null";`,
    ),
    'Dir::Etc::trusted "/dev/null";',
  ]
  const config = join(root, 'apt.conf')
  await writeFile(config, `${settings.join('\n')}\n`)
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', APT_CONFIG: config }
  return async (words, signal, isEmpty = false) => {
    // `apt-get download` puts packages into the directory in which it is run.
    const cwd = join(root, isEmpty ? 'nothing' : 'archives')
    const options = { env, cwd, signal, maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await execute('apt-get', [...words], options).catch((error: unknown) => {
      throw isMissing(error) ? noApt() : error
    })
    return stdout
  }
}

/** The ways out of the host's apt, such as proxies, and what it thinks of dates. Nothing that weakens signatures. */
async function hostSettings(): Promise<string[]> {
  const { stdout } = await execute('apt-config', ['dump']).catch((error: unknown) => {
    throw isMissing(error) ? noApt() : error
  })
  const kept = /^Acquire::(https?::[\w.:/-]+|Retries|Check-Valid-Until|Check-Date) ".+";$/
  return stdout.split('\n').filter((line) => kept.test(line))
}

async function sourceLines(source: ReleaseSource, request: DebRequest): Promise<string> {
  const { architecture, release } = request
  const keyring = request.keyring ?? source.keyring
  const isThere = await access(keyring).then(
    () => true,
    () => false,
  )
  if (!isThere) {
    const text = `Cannot check packages of ${release}: there is no keyring ${keyring}; install ${source.keyringPackage}, or name another one with --keyring ${release}=<path>`
    throw new ExpectedError(text, exitCodes.missingDependency)
  }
  const isPort = architecture !== 'x86_64'
  const ports = isPort ? source.portsMirror : undefined
  const mirror = request.mirror ?? ports ?? source.mirror
  const security = request.securityMirror ?? ports ?? source.securityMirror
  const line = (url: string) => (suite: string) =>
    `deb [arch=${debianArchitecture(architecture)} signed-by=${keyring}] ${url} ${suite} ${source.components}\n`
  const { suites } = source
  return [...suites.archive.map(line(mirror)), ...suites.security.map(line(security))].join('')
}

interface ListedDeb {
  readonly file: string
  readonly bytes: number
  readonly sha256: string
}

/** Parses the lines of --print-uris: 'http://…' name_version_arch.deb 123 SHA256:…. */
export function parseUris(text: string): ListedDeb[] {
  const lines = text.split('\n').filter((line) => line.startsWith("'"))
  return lines.map((line) => {
    const pattern = /^'\S+' ([a-z0-9][\w.+%~-]*_[a-z0-9]+\.deb) (\d+) SHA256:([0-9a-f]{64})$/
    const [, file, bytes, sha256] = pattern.exec(line.trim()) ?? []
    if (file === undefined || sha256 === undefined) {
      throw new RangeError(`apt lists ${JSON.stringify(line)}, which has no SHA-256`)
    }
    return { file, bytes: Number(bytes), sha256 }
  })
}

/** The cache may hold an old file under the same name, so what the signed index says is compared again. */
async function compare(path: string, listed: ListedDeb, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  if (hash.digest('hex') === listed.sha256) return
  const text = `Cannot use ${path}: it is not the file that the archive has signed; remove it and run the command again`
  throw new ExpectedError(text, exitCodes.failure)
}

async function namesOf(path: string, signal: AbortSignal): Promise<Omit<CollectedDeb, 'path'>> {
  const fields = ['Package', 'Version', 'Architecture']
  const { stdout } = await execute('dpkg-deb', ['--field', path, ...fields], { signal })
  const value = (field: string): string =>
    new RegExp(`^${field}: (.*)$`, 'm').exec(stdout)?.[1] ?? ''
  return {
    name: value('Package'),
    version: value('Version'),
    architecture: value('Architecture'),
  }
}

export function debianArchitecture(architecture: Architecture): 'amd64' | 'arm64' {
  return architecture === 'x86_64' ? 'amd64' : 'arm64'
}

export function unknownRelease(release: string): ExpectedError {
  const known = Object.keys(releaseSources).join(', ')
  const text = `Cannot collect packages of ${release}: use one of ${known}`
  return new ExpectedError(text, exitCodes.usage)
}

function noApt(): ExpectedError {
  const text =
    'Cannot collect packages: this system has no apt; run the command on Debian or Ubuntu'
  return new ExpectedError(text, exitCodes.missingDependency)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** apt explains itself on stderr, in lines that begin with E. */
function lastWords(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  const errors = text.split('\n').filter((line) => line.startsWith('E: '))
  return errors.length > 0
    ? errors
        .map((line) => line.slice(3))
        .join('; ')
        .slice(0, 1_000)
    : messageOf(error)
}
