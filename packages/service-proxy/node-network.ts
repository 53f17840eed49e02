import { execFile } from 'node:child_process'
import { access, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Logger } from '@skerry/base'

const execute = promisify(execFile)

/** Marks the route to services; not that of routes to pods, which are compared with a plan and removed. */
const serviceRouteProtocol = '74'

export interface NodeNetworkConfig {
  serviceCidr: string
  /** The cluster DNS address, answered on this node. */
  dnsAddress: string
  nodeAddress: string
}

/**
 * What the service network needs of the node: forwarding, bridged traffic seen by the rules, and a
 * way for the node's own processes to reach service addresses even when the node has no default
 * route (a site on its own): the kernel looks for a route before it asks the rules.
 */
export async function prepareNodeNetwork(config: NodeNetworkConfig, log: Logger): Promise<void> {
  await setSysctl('net/ipv4/ip_forward', '1')
  if (!(await exists('/proc/sys/net/bridge/bridge-nf-call-iptables'))) {
    await execute('modprobe', ['br_netfilter']).catch((error: unknown) => {
      log.info('Bridge filtering is not available', {
        error: error instanceof Error ? error : null,
      })
    })
  }
  if (await exists('/proc/sys/net/bridge/bridge-nf-call-iptables')) {
    await setSysctl('net/bridge/bridge-nf-call-iptables', '1')
  }
  await execute('ip', ['address', 'replace', `${config.dnsAddress}/32`, 'dev', 'lo'])
  const source = ['src', config.nodeAddress, 'proto', serviceRouteProtocol]
  await execute('ip', [
    'route',
    'replace',
    config.serviceCidr,
    'dev',
    'lo',
    ...source,
    'table',
    'main',
  ])
}

/** Takes back what prepareNodeNetwork and the rules left; for `skerry reset`. */
export async function clearNodeNetwork(
  config: Pick<NodeNetworkConfig, 'dnsAddress'>,
): Promise<void> {
  const commands = [
    ['ip', 'address', 'delete', `${config.dnsAddress}/32`, 'dev', 'lo'],
    ['ip', 'route', 'flush', 'proto', serviceRouteProtocol],
    ['ip', 'route', 'flush', 'proto', '73'],
    ['ip', 'link', 'delete', 'skerry-vxlan'],
    ['nft', 'delete', 'table', 'ip', 'skerry'],
    ['nft', 'delete', 'table', 'ip', 'skerry-policy'],
  ]
  for (const [file = '', ...args] of commands) {
    // What is not there needs no clearing; the end state is checked by whoever resets.
    await execute(file, args).catch(() => undefined)
  }
}

async function setSysctl(name: string, value: string): Promise<void> {
  await writeFile(`/proc/sys/${name}`, value)
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    // access rejects exactly when it is not there or not ours to see.
    return false
  }
}
