import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../system-error.ts'

export interface PodNetwork {
  /** The node's share of the cluster's pod addresses, one per address family. */
  podCidrs: readonly string[]
  /** The directory is on a tmpfs: after a reboot no address is taken. */
  ipamDirectory: string
  /** The plugin that assigns addresses: host-local, or one that wraps it. */
  ipamPlugin?: string
  /** Name of the bridge that pods hang on; unique per network namespace. */
  bridge: string
  mtu?: number
}

const fileName = '10-skerry.conflist'

/** The address plugin keeps its reservations in a directory of this name. */
export const podNetworkName = 'skerry'

/** Returns a configuration of bridge, host-local and portmap; the service proxy masquerades. */
function cniConflist(network: PodNetwork): object {
  const isIpv6 = (cidr: string): boolean => cidr.includes(':')
  return {
    cniVersion: '1.0.0',
    name: podNetworkName,
    plugins: [
      {
        type: 'bridge',
        bridge: network.bridge,
        isGateway: true,
        hairpinMode: true,
        ipMasq: false,
        ...(network.mtu === undefined ? {} : { mtu: network.mtu }),
        ipam: {
          type: network.ipamPlugin ?? 'host-local',
          dataDir: network.ipamDirectory,
          ranges: network.podCidrs.map((subnet) => [{ subnet }]),
          routes: network.podCidrs.map((cidr) => ({ dst: isIpv6(cidr) ? '::/0' : '0.0.0.0/0' })),
        },
      },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    ],
  }
}

/** Writes the file atomically; resolves true if it changed. containerd notices the change. */
export async function writeCniConfig(directory: string, network: PodNetwork): Promise<boolean> {
  const path = join(directory, fileName)
  const text = `${JSON.stringify(cniConflist(network), null, 2)}\n`
  if ((await readOr(path, '')) === text) return false
  await mkdir(directory, { recursive: true })
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
  return true
}

async function readOr(path: string, fallback: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return fallback
    throw error
  }
}
