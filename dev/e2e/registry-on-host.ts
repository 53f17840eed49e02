import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestHost } from '@skerry/testing'

/** How the registry authenticates clients, and their credentials. A registry that asks nobody needs none. */
export interface RegistryAccess {
  readonly challenge: 'basic' | 'bearer' | 'none'
  readonly username?: string
  readonly password?: string
}

/**
 * Starts a registry on the loopback of a host, where containerd accepts plain HTTP, and returns its address. It has one
 * image, which it gives under every name, and ends with the host.
 */
export async function startRegistry(
  host: TestHost,
  { challenge, username = '', password = '' }: RegistryAccess,
): Promise<string> {
  const script = join(import.meta.dirname, 'registry-process.ts')
  const child = host.start([process.execPath, script, challenge, username, password], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.stdout === null) throw new Error('Cannot start the registry: no output')
  const [port] = await once(createInterface({ input: child.stdout }), 'line', {
    signal: AbortSignal.timeout(30_000),
  })
  return `127.0.0.1:${port}`
}
