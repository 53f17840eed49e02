import { execFile } from 'node:child_process'
import { access, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { asError, messageOf, type Clock, type Logger } from '@skerry/base'
import type { NetworkHealth } from './network-health.ts'
import { serviceProxyBounds } from '../limits/limits-table.ts'

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
  if (!(await exists('/proc/sys/net/bridge/bridge-nf-call-iptables'))) {
    await execute('modprobe', ['br_netfilter']).catch((error: unknown) => {
      log.info('Bridge filtering is not available', {
        error: asError(error),
      })
    })
  }
  await setSwitches()
  await setAddresses(config)
}

const { checkMs } = serviceProxyBounds.nodeNetwork
const healthPart = 'node network'

export interface NodeNetworkDeps {
  clock: Clock
  log: Logger
  health: NetworkHealth
}

/** Puts right what other programs change of it, until the signal aborts. */
export async function keepNodeNetwork(
  config: NodeNetworkConfig,
  { clock, log, health }: NodeNetworkDeps,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(checkMs, signal)
    try {
      for (const name of await setSwitches())
        log.info('A kernel switch was turned by another program, turning it back', { name })
      await setAddresses(config)
      health.set(healthPart, undefined)
    } catch (error) {
      signal.throwIfAborted()
      health.set(healthPart, messageOf(error))
      log.error('Node network not put right', { error: asError(error) })
    }
  }
}

/** The names of those that were not as they have to be. */
async function setSwitches(): Promise<string[]> {
  const changed: string[] = []
  for (const name of ['net/ipv4/ip_forward', 'net/bridge/bridge-nf-call-iptables']) {
    const path = `/proc/sys/${name}`
    if (!(await exists(path)) || (await readFile(path, 'utf8')).trim() === '1') continue
    await writeFile(path, '1')
    changed.push(name)
  }
  return changed
}

async function setAddresses(config: NodeNetworkConfig): Promise<void> {
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

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    // access rejects exactly when it is not there or not ours to see.
    return false
  }
}
