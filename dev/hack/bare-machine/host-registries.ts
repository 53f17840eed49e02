import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The package registries that this host is configured to use, read when the script runs. */
export interface HostRegistries {
  /** The lines of sources.list(5) for the distribution itself, without third parties. */
  readonly aptSources: readonly string[]
  /** The settings of apt.conf(5) for downloads. */
  readonly aptSettings: readonly string[]
  /** The base URL of the npm registry. */
  readonly npmRegistry: string
  /** A PEM file of authorities that the host's npm trusts in addition. */
  readonly npmAuthorities: string | undefined
  /** The registries that the machine may reach, each through one of the host's own proxies. */
  readonly ways: readonly RegistryWay[]
}

export interface RegistryWay {
  readonly hostname: string
  readonly port: number
  /** The host's own HTTP proxy, if it needs one. */
  readonly via: URL | undefined
}

/** Reads apt's configuration. Throws if apt names no mirror of the distribution with this code name. */
export async function readHostRegistries(suite: string): Promise<HostRegistries> {
  const targets = await aptTargets(suite)
  if (targets.length === 0) {
    throw new Error(`Cannot find a mirror: apt is configured with none for ${suite}; pass --suite`)
  }
  const settings = await aptSettings()
  const aptProxy = proxyOf(settings.get('Acquire::http::Proxy'))
  const npmRegistry = await npmSetting('registry')
  const npmProxy = proxyOf(await npmSetting('https-proxy')) ?? proxyOf(await npmSetting('proxy'))
  const authorities = await npmSetting('cafile')
  return {
    aptSources: targets.map(({ url, release, component }) => `deb ${url} ${release} ${component}`),
    aptSettings: [...settings]
      .filter(([name]) => !/::Proxy$/i.test(name))
      .map(([name, value]) => `${name} "${value}";`),
    npmRegistry,
    npmAuthorities: isSet(authorities) ? authorities : process.env['NODE_EXTRA_CA_CERTS'],
    ways: [
      ...targets.map(({ url }) => wayTo(new URL(url), aptProxy)),
      wayTo(new URL(npmRegistry), npmProxy),
    ],
  }
}

interface AptTarget {
  url: string
  release: string
  component: string
}

/** The distribution's own: its components are main and universe, its suites begin with the code name. */
async function aptTargets(suite: string): Promise<AptTarget[]> {
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)'
  const { stdout } = await execute('apt-get', [
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
  ])
  return stdout
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([url = '', release = '', component = '']) =>
      new RegExp(`^${suite}(-updates|-security|/updates)?$`).test(release) &&
      ['main', 'universe'].includes(component)
        ? [{ url, release, component }]
        : [],
    )
}

/** Returns the settings for downloads, without those about the local storage and use of indexes. */
async function aptSettings(): Promise<Map<string, string>> {
  const { stdout } = await execute('apt-config', ['dump'])
  const lines = stdout.matchAll(/^(Acquire::[A-Za-z0-9:-]+) "(.*)";$/gm)
  const settings = [...lines].map(([, name = '', value = '']) => [name, value] as const)
  return new Map(
    settings.filter(([name, value]) => value !== '' && !/::(IndexTargets|cdrom)::/i.test(name)),
  )
}

async function npmSetting(name: string): Promise<string> {
  // The host's npm has the host's settings; one that a package brings has its own.
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((each) => !each.includes('node_modules'))
  const env = { ...process.env, PATH: path.join(':') }
  const { stdout } = await execute('npm', ['config', 'get', name], { cwd: '/', env })
  return stdout.trim()
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && !['', 'null', 'undefined', 'false', 'DIRECT'].includes(value)
}

function proxyOf(value: string | undefined): URL | undefined {
  return isSet(value) ? new URL(value) : undefined
}

function wayTo(url: URL, via: URL | undefined): RegistryWay {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { hostname: url.hostname, port, via }
}
