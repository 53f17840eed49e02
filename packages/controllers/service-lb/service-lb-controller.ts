import type { EndpointSlice, Pod, Service } from '@skerry/api'
import { keyOfObject, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type Watch,
} from '@skerry/controller-runtime'
import { controllerBounds } from '../limits-table.ts'
import { isReleased } from './balance-status.ts'
import { hostPortsByNode, hostPortsOf, isBalanced, type Balance } from './balanced-service.ts'
import { balancingNodes, isSameForBalancing } from './balancing-nodes.ts'
import { planNodeBalances } from './node-balance.ts'
import { forgetGone, writeBalance } from './write-balance.ts'

const { settleMs } = controllerBounds.serviceLbController

/** All services are planned together, because they share the ports of nodes. */
export const everything = 'services'

const serviceNameLabel = 'kubernetes.io/service-name'
const ofService = 'service'

/** The watches that every way of balancing has. */
export const balancingWatches: readonly Watch[] = Object.freeze([
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
])

/** Gives services of type LoadBalancer the addresses of nodes. */
export function serviceLbController(): ControllerDefinition {
  /** The last words about each service, by its uid. */
  const told = new Map<string, string>()
  return {
    name: 'service-lb-controller',
    eventComponent: 'service-controller',
    workers: 1,
    watches: [
      ...balancingWatches,
      watch(resources.pods, {
        keysOf: ({ object, old }) => (havePortsOfNodes(object, old) ? [everything] : []),
        delayMs: settleMs,
      }),
    ],
    async reconcile(_key, context, signal) {
      const balances = planBalances(context)
      forgetGone(told, balances)
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

/** Returns services that are load balancers no more, without what was said about them as such. */
export function releasedBalances(context: ControllerContext): Balance[] {
  const released = context.informer(resources.services).list().filter(isReleased)
  return released.map((service) => ({ service, ingress: [], portFaults: [], fault: undefined }))
}

export function slicesOf(context: ControllerContext, service: Service): readonly EndpointSlice[] {
  return context.informer(resources.endpointSlices).byIndex(ofService, keyOfObject(service))
}

function planBalances(context: ControllerContext): Balance[] {
  const services = context.informer(resources.services).list().filter(isBalanced)
  const released = releasedBalances(context)
  if (services.length === 0) return released
  const planned = planNodeBalances({
    services,
    nodes: balancingNodes(context.informer(resources.nodes).list()),
    slicesOf: (service) => slicesOf(context, service),
    hostPorts: hostPortsByNode(context.informer(resources.pods).list()),
  })
  return [...planned, ...released]
}
