import type { Lease, Service } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import {
  isAddressLease,
  readAddressLease,
  writeAddressLease,
  type AddressLease,
} from './address-leases.ts'
import { isWithin } from './address-ranges.ts'
import { planAnnouncers } from './announcer-plan.ts'
import {
  endpointNodes,
  isBalanced,
  serviceName,
  staysOnNode,
  type Balance,
} from './balanced-service.ts'
import { balancingNodes, poolOf, type BalancingNode } from './balancing-nodes.ts'
import { NodeSigns } from './node-signs.ts'
import { planRangeBalances } from './range-balance.ts'
import {
  balancingWatches,
  everything,
  releasedBalances,
  slicesOf,
} from './service-lb-controller.ts'
import { forgetGone, writeBalance } from './write-balance.ts'

const heartbeats = 'kube-node-lease'

/** Gives services of type LoadBalancer addresses of a range, and says which node announces each. */
export function serviceRangeController(ranges: readonly string[]): ControllerDefinition {
  const told = new Map<string, string>()
  let signs: NodeSigns | undefined
  const signsOf = ({ clock }: ControllerContext): NodeSigns =>
    (signs ??= new NodeSigns(clock.monotonicMs()))
  return {
    name: 'service-lb-controller',
    eventComponent: 'service-controller',
    workers: 1,
    watches: [
      ...balancingWatches,
      watch(resources.leases, {
        keysOf({ type, object }, context) {
          const { namespace } = object.metadata
          if (namespace === heartbeats && type !== 'deleted')
            signsOf(context).onLease(object, context.clock.monotonicMs())
          // A node that is back is looked at with the next change: no address waits for it.
          return isAddressLease(object) ? [everything] : []
        },
      }),
    ],
    reconcile: (_key, context, signal) =>
      reconcile({ ranges, told, signs: signsOf(context) }, context, signal),
  }
}

interface RangeState {
  readonly ranges: readonly string[]
  readonly told: Map<string, string>
  readonly signs: NodeSigns
}

async function reconcile(
  { ranges, told, signs }: RangeState,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const nowMs = context.clock.monotonicMs()
  signs.look(nowMs)
  const known = new Map(
    context
      .informer(resources.leases)
      .list()
      .filter(isAddressLease)
      .map((lease) => [readAddressLease(lease).address, lease]),
  )
  const { balances, leases } = planAll(ranges, { known, signs, nowMs }, context)
  forgetGone(told, balances)
  for (const [address, lease] of known) {
    if (!leases.has(address)) await writeAddressLease(lease, undefined, context, signal)
  }
  for (const [address, planned] of leases) {
    await writeAddressLease(known.get(address), planned, context, signal)
    tellMove(known.get(address), planned, { balances, context })
  }
  for (const balance of balances) await writeBalance(balance, { context, told }, signal)
  const holders = new Set([...leases.values()].flatMap(({ holder }) => holder ?? []))
  signs.setHolders(holders, context.clock.monotonicMs())
  const requeueAfterMs = signs.untilNextMs(context.clock.monotonicMs())
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

interface Seen {
  readonly known: ReadonlyMap<string, Lease>
  readonly signs: NodeSigns
  readonly nowMs: number
}

function planAll(
  ranges: readonly string[],
  { known, signs, nowMs }: Seen,
  context: ControllerContext,
): { balances: readonly Balance[]; leases: ReadonlyMap<string, AddressLease> } {
  const services = context.informer(resources.services).list().filter(isBalanced)
  const allNodes = context.informer(resources.nodes).list()
  const nodes = balancingNodes(allNodes)
  const ofNodes = new Set(
    allNodes.flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address)),
  )
  const free = ranges.filter((address) => !ofNodes.has(address))
  const given = [...known.values()].map((lease) => readAddressLease(lease))
  const planned = planRangeBalances(services, free, given)
  const wanted = planned.flatMap(({ service, ingress: [first] }) => {
    const address = first?.ip
    if (address === undefined) return []
    const candidates = candidatesFor(service, address, nodes, context).map(({ name }) => name)
    const lease = known.get(address)
    const holder = lease && readAddressLease(lease).holder
    return [{ address, holder, candidates, service: serviceName(service) }]
  })
  const announcers = planAnnouncers(wanted, (node) => signs.isAlive(node, nowMs))
  const leases = new Map(
    wanted.map(({ address, service }) => [
      address,
      { address, service, holder: announcers.get(address) },
    ]),
  )
  const balances = planned.map((balance) => {
    const address = balance.ingress[0]?.ip
    if (address === undefined || leases.get(address)?.holder !== undefined) return balance
    const what = staysOnNode(balance.service) ? ' and has a ready endpoint' : ''
    return { ...balance, fault: `no ready node is in the network of ${address}${what}` }
  })
  return { balances: [...balances, ...releasedBalances(context)], leases }
}

function candidatesFor(
  service: Service,
  address: string,
  nodes: readonly BalancingNode[],
  context: ControllerContext,
): BalancingNode[] {
  const pool = poolOf(service)
  const near = staysOnNode(service) ? endpointNodes(slicesOf(context, service)) : undefined
  return nodes.filter(
    ({ name, labels, network }) =>
      isWithin(address, network) &&
      (pool === undefined || labels[pool[0]] === pool[1]) &&
      (near === undefined || near.has(name)),
  )
}

function tellMove(
  known: Lease | undefined,
  { address, service, holder }: AddressLease,
  { balances, context }: { balances: readonly Balance[]; context: ControllerContext },
): void {
  const before = known && readAddressLease(known).holder
  if (holder === undefined || holder === before) return
  const owner = balances.find((each) => serviceName(each.service) === service)?.service
  const after = before === undefined ? '' : ` instead of node ${before}`
  const message = `Node ${holder} announces ${address}${after}`
  context.log.info('Announcer of an address changed', { address, node: holder, before })
  if (owner) context.events.event(owner, { type: 'Normal', reason: 'NodeAssigned', message })
}
