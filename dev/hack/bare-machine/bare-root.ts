import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HostRegistries } from './host-registries.ts'
import { proxyPort } from './registry-proxy.ts'

const execute = promisify(execFile)

/** The oldest Node that README.md supports, and the npm that came with it. */
const nodeVersion = '20'
const npmVersion = '10'

/** The path of the clone on the machine. */
export const clonePath = '/srv/skerry'

export interface BareRootOptions {
  /** The code name of the distribution's release. */
  readonly suite: string
  /** The repository whose last commit is tested. */
  readonly repository: string
  readonly signal: AbortSignal
}

/**
 * A directory with Debian's essential packages, apt, Node, npm and a clone of the repository; and
 * nothing else. Removed when disposed; nothing may be mounted in it by then.
 */
export async function makeBareRoot(
  options: BareRootOptions,
  registries: HostRegistries,
): Promise<AsyncDisposable & { path: string }> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-bare-'))
  const path = join(scratch, 'root')
  const remove = (): Promise<void> => rm(scratch, { recursive: true, force: true, maxRetries: 5 })
  try {
    await installDebian(path, options, registries)
    await installNode(path, scratch)
    await configureDownloads(path, registries)
    await execute('git', ['clone', '-q', '--no-hardlinks', options.repository, path + clonePath])
    await writeFile(join(path, 'etc/hostname'), 'bare\n')
    await writeFile(join(path, 'etc/hosts'), '127.0.0.1 localhost bare\n')
    return { path, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Installs the variant apt: the packages that are marked essential, and apt. */
async function installDebian(
  path: string,
  { suite, signal }: BareRootOptions,
  { aptSources, aptSettings }: HostRegistries,
): Promise<void> {
  const settings = aptSettings.map((line) => `--aptopt=${line}`)
  await execute(
    'mmdebstrap',
    ['--quiet', '--mode=root', '--variant=apt', ...settings, suite, path, ...aptSources],
    { maxBuffer: 64 * 1024 * 1024, signal },
  )
  await rm(join(path, 'etc/apt/apt.conf.d/99mmdebstrap'), { force: true })
}

/** Installs from npm's registry, because Debian's Node may be older than what README.md requires. */
async function installNode(path: string, scratch: string): Promise<void> {
  const local = join(path, 'usr/local')
  const node = `node-linux-${process.arch}`
  for (const wanted of [`${node}@${nodeVersion}`, `npm@${npmVersion}`]) {
    await execute('npm', ['pack', '--silent', '--pack-destination', scratch, wanted], { cwd: '/' })
  }
  const unpack = async (name: string, to: string): Promise<void> => {
    await mkdir(to, { recursive: true })
    await execute('sh', [
      '-c',
      `tar -xzf "$1"/${name}-*.tgz -C "$2" --strip-components=1`,
      'sh',
      scratch,
      to,
    ])
  }
  await unpack(node, local)
  await unpack('npm', join(local, 'lib/node_modules/npm'))
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
  }
}

/** Configures apt and npm for the proxy, as an administrator does on a machine behind one. */
async function configureDownloads(path: string, registries: HostRegistries): Promise<void> {
  const proxy = `http://127.0.0.1:${proxyPort}`
  const apt = [...registries.aptSettings]
  const npm = [`registry=${registries.npmRegistry}`, `proxy=${proxy}`, `https-proxy=${proxy}`]
  for (const scheme of ['http', 'https']) apt.push(`Acquire::${scheme}::Proxy "${proxy}";`)
  if (registries.npmAuthorities !== undefined) {
    const authorities = '/usr/local/etc/authorities.pem'
    await mkdir(join(path, 'usr/local/etc'), { recursive: true })
    await copyFile(registries.npmAuthorities, path + authorities)
    npm.push(`cafile=${authorities}`)
    apt.push(`Acquire::https::CAInfo "${authorities}";`)
  }
  await writeFile(join(path, 'etc/apt/apt.conf.d/90downloads'), `${apt.join('\n')}\n`)
  await mkdir(join(path, 'usr/local/etc'), { recursive: true })
  await writeFile(join(path, 'usr/local/etc/npmrc'), `${npm.join('\n')}\n`)
}
