import { readFile } from 'node:fs/promises'
import type { DnsConfig } from '../cri/container-runtime.ts'
import { parseResolvConf } from './pod-dns.ts'

/** The resolvers that systemd-resolved asks itself, systemd-resolved.service(8). */
const resolvedFile = '/run/systemd/resolve/resolv.conf'

/**
 * Reads the resolvers of the machine. Where it has its own one on loopback alone, as Ubuntu has, pods get those that this
 * one asks: a pod's loopback is another one.
 */
export async function hostDns(
  path: string,
  { behind = resolvedFile }: { readonly behind?: string } = {},
): Promise<DnsConfig> {
  const own = await read(path)
  if (own.servers.length === 0 || !own.servers.every(isLoopback)) return own
  const asked = await read(behind)
  return asked.servers.length > 0 && !asked.servers.every(isLoopback) ? asked : own
}

/** A machine without the file has no resolvers. */
async function read(path: string): Promise<DnsConfig> {
  return parseResolvConf(await readFile(path, 'utf8').catch(() => ''))
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
