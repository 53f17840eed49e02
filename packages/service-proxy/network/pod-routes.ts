import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { messageOf } from '@skerry/base'
import {
  overlayAddressOf,
  overlayMacOf,
  type PodNetworkPlan,
  type PodRoute,
} from './pod-network.ts'

const execute = promisify(execFile)

const overlayDevice = 'skerry-vxlan'
const overlayPort = 8472
const overlayId = 7373

/** Every route of this package has this protocol number, by which it recognizes its own. */
const routeProtocol = '73'

export interface PodRoutesDeps {
  nodeAddress: string
}

/**
 * Makes the kernel's routes those of the plan, and removes those of an earlier plan. The kernel may
 * refuse the route to a node, which itself publishes its address: all others get theirs first.
 * Throws AggregateError.
 */
export async function applyPodRoutes(plan: PodNetworkPlan, deps: PodRoutesDeps): Promise<void> {
  if (plan.needsOverlay) await ensureOverlay(deps.nodeAddress)
  const failures: unknown[] = []
  for (const route of plan.routes) {
    try {
      await setRoute(route)
    } catch (error) {
      failures.push(error)
    }
  }
  const wanted = new Set(plan.routes.map((route) => route.podCidr))
  for (const present of await ownRoutes()) {
    if (!wanted.has(present)) await ip('route', 'delete', present, 'proto', routeProtocol)
  }
  if (failures.length > 0) {
    const texts = failures.map((each) => messageOf(each))
    throw new AggregateError(failures, `Cannot set ${failures.length} routes: ${texts.join('; ')}`)
  }
}

/** Resolves to true if the kernel still has every route of an applied plan. */
export async function haveRoutes(plan: PodNetworkPlan): Promise<boolean> {
  if (plan.routes.length === 0) return true
  const present = new Set(await ownRoutes())
  return plan.routes.every(({ podCidr }) => present.has(podCidr))
}

async function setRoute(route: PodRoute): Promise<void> {
  if (route.via === 'host-gw') {
    await ip('route', 'replace', route.podCidr, 'via', route.nodeAddress, 'proto', routeProtocol)
    return
  }
  const gateway = overlayAddressOf(route.podCidr)
  const mac = overlayMacOf(route.nodeAddress)
  await ip('neighbour', 'replace', gateway, 'lladdr', mac, 'dev', overlayDevice, 'nud', 'permanent')
  await execute('bridge', ['fdb', 'replace', mac, 'dev', overlayDevice, 'dst', route.nodeAddress])
  const onlink = ['via', gateway, 'dev', overlayDevice, 'onlink', 'proto', routeProtocol]
  await ip('route', 'replace', route.podCidr, ...onlink)
}

/** The address of a device cannot be changed, so that a machine with another address gets another device. */
async function ensureOverlay(nodeAddress: string): Promise<void> {
  const present = await overlaySource()
  if (present === nodeAddress) return
  if (present !== undefined) await ip('link', 'delete', overlayDevice)
  const vxlan = ['type', 'vxlan', 'id', String(overlayId), 'dstport', String(overlayPort)]
  await ip('link', 'add', overlayDevice, ...vxlan, 'local', nodeAddress, 'nolearning')
  await ip('link', 'set', overlayDevice, 'address', overlayMacOf(nodeAddress), 'mtu', '1450', 'up')
}

/** Resolves to true if the address is on a link of this node, without a router between. */
export async function isNeighbour(address: string): Promise<boolean> {
  const { stdout } = await execute('ip', ['-json', 'route', 'get', address]).catch(() => ({
    stdout: '[]',
  }))
  const routes: unknown = JSON.parse(stdout)
  if (!Array.isArray(routes)) return false
  const [route] = routes
  return typeof route === 'object' && route !== null && !('gateway' in route)
}

async function ownRoutes(): Promise<string[]> {
  const { stdout } = await execute('ip', ['-json', 'route', 'show', 'proto', routeProtocol])
  const routes: unknown = JSON.parse(stdout === '' ? '[]' : stdout)
  if (!Array.isArray(routes)) return []
  return routes.flatMap((route: unknown) =>
    typeof route === 'object' && route !== null && 'dst' in route ? [String(route.dst)] : [],
  )
}

async function ip(...args: string[]): Promise<void> {
  await execute('ip', args)
}

/** Returns the address from which the overlay sends, '' if it names none, or undefined without a device. */
async function overlaySource(): Promise<string | undefined> {
  const shown = await execute('ip', ['-json', '-details', 'link', 'show', overlayDevice]).catch(
    // `ip link show` fails for a missing device; that is the answer.
    () => undefined,
  )
  if (shown === undefined) return undefined
  const [, source = ''] = /"local":"([^"]+)"/.exec(shown.stdout) ?? []
  return source
}
