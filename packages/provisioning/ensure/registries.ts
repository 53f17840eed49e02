import { posix } from 'node:path'
import type { RegistryMirror } from '../kind/edge-options.ts'
import { places } from './commands.ts'

/** The directory of containerd's settings of registries; everything in it is ours. */
export const registryDirectory = `${places.settings}/registries`

/** A file with the endpoints of one registry, in containerd's format. */
export interface HostsFile {
  readonly directory: string
  readonly path: string
  readonly content: string
}

/**
 * Returns the hosts.toml of each registry. Endpoints that fail are passed over, and the registry itself is asked
 * last. The checks of the object leave nothing in a URL that means something in TOML.
 */
export function hostsFiles(registries: readonly RegistryMirror[]): HostsFile[] {
  return registries.map(({ host, endpoints }) => {
    const directory = host === '*' ? '_default' : host
    const tables = endpoints.map(hostTable)
    return {
      directory,
      path: posix.join(registryDirectory, directory, 'hosts.toml'),
      content: ['# Written by the hub.\n', ...tables].join('\n'),
    }
  })
}

/** A path with the version of the API is the whole path, as Harbor's proxy caches have it. */
function hostTable(endpoint: string): string {
  const url = endpoint.replace(/\/+$/, '')
  const isWhole = /\/v2(\/|$)/.test(new URL(url).pathname)
  const lines = [
    `[host.${JSON.stringify(url)}]`,
    '  capabilities = ["pull", "resolve"]',
    ...(isWhole ? ['  override_path = true'] : []),
  ]
  return `${lines.join('\n')}\n`
}
