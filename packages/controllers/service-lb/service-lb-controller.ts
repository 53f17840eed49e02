import type { EndpointSlice, Pod, Service } from '@skerry/api'
import { keyOfObject, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { timestamp } from '../status/timestamp.ts'
import { controllerBounds } from '../limits-table.ts'
import { addressesText, isReleased, nextStatus, shortened } from './balance-status.ts'
import { hostPortsByNode, hostPortsOf, isBalanced, type Balance } from './balanced-service.ts'
import { balancingNodes, isSameForBalancing } from './balancing-nodes.ts'
import { planNodeBalances } from './node-balance.ts'

const { settleMs } = controllerBounds.serviceLbController

/** All services are planned together, because they share the ports of nodes. */
const everything = 'services'

const serviceNameLabel = 'kubernetes.io/service-name'
const ofService = 'service'

/** Gives services of type LoadBalancer the addresses of nodes. */
export function serviceLbController(): ControllerDefinition {
  /** The last words about each service, by its uid. */
  const told = new Map<string, string>()
  return {
    name: 'service-lb-controller',
    eventComponent: 'service-controller',
    workers: 1,
    watches: [
      watch(resources.services, {
        keysOf: ({ object, old }) =>
          isBalanced(object) || (old && isBalanced(old)) ? [everything] : [],
        delayMs: settleMs,
      }),
      watch(resources.nodes, {
        keysOf: ({ object, old }) => (old && isSameForBalancing(object, old) ? [] : [everything]),
        delayMs: settleMs,
      }),
      watch(resources.endpointSlices, {
        indexes: { [ofService]: (slice) => [serviceKeyOf(slice)] },
        keysOf: () => [everything],
        delayMs: settleMs,
      }),
      watch(resources.pods, {
        keysOf: ({ object, old }) => (havePortsOfNodes(object, old) ? [everything] : []),
        delayMs: settleMs,
      }),
    ],
    async reconcile(_key, context, signal) {
      const balances = planBalances(context)
      const uids = new Set(balances.map(({ service }) => service.metadata.uid ?? ''))
      for (const uid of told.keys()) if (!uids.has(uid)) told.delete(uid)
      for (const balance of balances) await writeBalance(balance, { context, told }, signal)
    },
  }
}

function serviceKeyOf({ metadata: { namespace, labels } }: EndpointSlice): string {
  return `${namespace}/${labels?.[serviceNameLabel] ?? ''}`
}

function havePortsOfNodes(pod: Pod, old: Pod | undefined): boolean {
  return hostPortsOf(pod).length > 0 || (old !== undefined && hostPortsOf(old).length > 0)
}

function planBalances(context: ControllerContext): Balance[] {
  const all = context.informer(resources.services).list()
  const services = all.filter(isBalanced)
  const released = all.filter(isReleased).map((service): Balance => ({
    service,
    ingress: [],
    portFaults: [],
    fault: undefined,
  }))
  if (services.length === 0) return released
  const slices = context.informer(resources.endpointSlices)
  const planned = planNodeBalances({
    services,
    nodes: balancingNodes(context.informer(resources.nodes).list()),
    slicesOf: (service) => slices.byIndex(ofService, keyOfObject(service)),
    hostPorts: hostPortsByNode(context.informer(resources.pods).list()),
  })
  return [...planned, ...released]
}

interface Writing {
  readonly context: ControllerContext
  readonly told: Map<string, string>
}

async function writeBalance(
  balance: Balance,
  { context, told }: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { service } = balance
  const status = nextStatus(balance, timestamp(context.clock.now()))
  if (status !== undefined) {
    // With its version: another controller may have changed conditions since.
    const next: Service = { ...service, status }
    await context.client(resources.services).updateStatus(next, signal)
  }
  tell(balance, status === undefined ? service : { ...service, status }, { context, told })
}

/** Says each thing once. A process that has just started says again what keeps a service from an address. */
function tell(
  { service, portFaults, fault }: Balance,
  now: Service,
  { context, told }: Writing,
): void {
  const [before, after] = [addressesText(service), addressesText(now)]
  const uid = service.metadata.uid ?? ''
  const say = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
    context.events.event(service, { type, reason, message: shortened(message) })
  if (before !== after && after !== 'none') {
    say('Normal', 'UpdatedLoadBalancer', `Updated LoadBalancer with new IPs: ${before} -> ${after}`)
  }
  const why = [...(fault === undefined ? [] : [`No address: ${fault}`]), ...portFaults].join('; ')
  if (told.get(uid) === why) return
  told.set(uid, why)
  if (why !== '') say('Warning', fault === undefined ? 'PortInUse' : 'UnAvailableLoadBalancer', why)
}
