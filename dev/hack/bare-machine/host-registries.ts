import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { aptSettings, aptTargets } from '@skerry/testing'

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
