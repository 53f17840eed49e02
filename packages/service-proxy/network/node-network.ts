import { execFile } from 'node:child_process'
import { access, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { asError, messageOf, type Clock, type Logger } from '@skerry/base'
import type { NetworkHealth } from './network-health.ts'
import { serviceProxyBounds } from '../limits-table.ts'

const execute = promisify(execFile)

/**
 * Marks the route to services. Routes to pods have another mark; they are compared with a plan and
 * removed.
 */
const serviceRouteProtocol = '74'

/** Marks further addresses, so that they can be removed by a program that does not know them. */
const localLabel = 'lo:skerry'

export interface NodeNetworkConfig {
  serviceCidr: string
  /** The address of the cluster DNS, which this node answers. */
  dnsAddress: string
  nodeAddress: string
  /** Further addresses that this node answers for its own pods. */
  localAddresses?: readonly string[]
}

/**
 * Prepares the node for the service network: forwarding, rules for bridged traffic, and a route by
 * which the node's own processes reach service addresses even if the node has no default route (a
 * standalone site), because the kernel looks for a route before it applies the rules.
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

/** Corrects changes by other programs until the signal aborts. */
export async function keepNodeNetwork(
  config: NodeNetworkConfig,
  { clock, log, health }: NodeNetworkDeps,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(checkMs, signal)
    try {
      for (const name of await setSwitches())
        log.info('Another program changed a kernel switch, changing it back', { name })
      await setAddresses(config)
      health.set(healthPart, undefined)
    } catch (error) {
      signal.throwIfAborted()
      health.set(healthPart, messageOf(error))
      log.error('Node network not corrected', { error: asError(error) })
    }
  }
}

/** Returns the names of the switches that were wrong. */
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
  for (const address of config.localAddresses ?? []) {
    const labelled = ['dev', 'lo', 'label', localLabel]
    await execute('ip', ['address', 'replace', `${address}/32`, ...labelled])
  }
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

/** Removes what prepareNodeNetwork and the rules created; for `skerry reset`. */
export async function clearNodeNetwork(
  config: Pick<NodeNetworkConfig, 'dnsAddress'>,
): Promise<void> {
  const commands = [
    ['ip', 'address', 'delete', `${config.dnsAddress}/32`, 'dev', 'lo'],
    ['ip', 'address', 'flush', 'dev', 'lo', 'label', localLabel],
    ['ip', 'route', 'flush', 'proto', serviceRouteProtocol],
    ['ip', 'route', 'flush', 'proto', '73'],
    ['ip', 'link', 'delete', 'skerry-vxlan'],
    ['nft', 'delete', 'table', 'ip', 'skerry'],
    ['nft', 'delete', 'table', 'ip', 'skerry-policy'],
  ]
  for (const [file = '', ...args] of commands) {
    // A missing item needs no removal; the reset command checks the end state.
    await execute(file, args).catch(() => undefined)
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    // access rejects exactly if the file does not exist or is not visible to us.
    return false
  }
}
