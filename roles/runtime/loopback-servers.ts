import { interfaceAddresses } from './host-addresses.ts'

/**
 * A control plane at an address of this machine is reached by the loopback as well, from then on: that address may be another
 * one at the next start, and the loopback's stays.
 */
export function withLoopback(
  servers: readonly string[],
  known: readonly string[],
  own: readonly string[] = interfaceAddresses(),
): string[] {
  const ports = new Set(servers.map(portOf))
  const before = known.filter((url) => isLoopback(url) && ports.has(portOf(url)))
  const here = servers
    .filter((url) => own.includes(new URL(url).hostname))
    .map((url) => `https://127.0.0.1:${portOf(url)}`)
  return [...new Set([...servers, ...before, ...here])]
}

function portOf(url: string): number {
  return Number(new URL(url).port) || 443
}

function isLoopback(url: string): boolean {
  return new URL(url).hostname === '127.0.0.1'
}
