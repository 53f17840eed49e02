import { isDeepStrictEqual } from 'node:util'
import {
  isStatusError,
  type EndpointAddress,
  type EndpointPort,
  type EndpointSubset,
  type Endpoints,
  type Service,
} from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { podEndpoints, type PodEndpoint } from '../endpointslice/endpoint-plan.ts'
import { inEndpointsOrder } from '../endpointslice/port-order.ts'
import { hasSelector, podsOfService, servicesOfPod } from '../endpointslice/services-of-pod.ts'
import { TriggerTimes, withTriggerTime } from '../endpointslice/trigger-times.ts'
import { controllerBounds } from '../limits-table.ts'

const { settleMs, addressesMax } = controllerBounds.endpointsController

const allTriggerTimes = new WeakMap<ControllerContext, TriggerTimes>()
const overCapacity = 'endpoints.kubernetes.io/over-capacity'

/** Maintains the older Endpoints object of every service with a selector, for programs that still read it. */
export const endpointsController: ControllerDefinition = {
  name: 'endpoints-controller',
  watches: [
    watch(resources.services, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, { keysOf: servicesOfPod, delayMs: settleMs }),
    // Changes by users stay until the service or its pods change, as upstream.
    watch(resources.endpoints, {
      keysOf: ({ type, object }) => (type === 'updated' ? [] : [keyOfObject(object)]),
    }),
  ],
  reconcile,
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const service = context.informer(resources.services).get(parseKey(key))
  const existing = context.informer(resources.endpoints).get(parseKey(key))
  const client = context.client(resources.endpoints)
  const triggerTimes = allTriggerTimes.get(context) ?? new TriggerTimes()
  allTriggerTimes.set(context, triggerTimes)
  if (service === undefined) {
    triggerTimes.forget(key)
    // Leader election may use Endpoints without a service, which are left alone.
    const isLock =
      existing?.metadata.annotations?.['control-plane.alpha.kubernetes.io/leader'] !== undefined
    const isManaged = existing?.metadata.labels?.[managedByLabel] === managedBy
    if (existing !== undefined && isManaged && !isLock) await deleteQuietly(key, context, signal)
    return
  }
  if (!hasSelector(service)) return
  const pods = podsOfService(service, context)
  const triggerTime = triggerTimes.next(key, service, pods)
  const planned = planEndpoints(
    service,
    podEndpoints(service, pods, () => undefined),
    existing,
  )
  if (planned === undefined) return
  const annotations = withTriggerTime(planned.metadata.annotations, triggerTime)
  const { annotations: _old, ...metadata } = planned.metadata
  const next = { ...planned, metadata: { ...metadata, ...(annotations ? { annotations } : {}) } }
  await (existing === undefined ? client.create(next, signal) : client.update(next, signal))
}

async function deleteQuietly(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await context.client(resources.endpoints).delete(parseKey(key), signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}

const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const managedBy = 'endpoint-controller'

/** Returns the wanted object, or undefined if the existing one is up to date. */
function planEndpoints(
  service: Service,
  wanted: readonly PodEndpoint[],
  existing: Endpoints | undefined,
): Endpoints | undefined {
  const { ports = [], clusterIP, publishNotReadyAddresses } = service.spec ?? {}
  const isPortless = ports.length === 0 && clusterIP === 'None'
  const isShown = ({ endpoint, ports: own }: PodEndpoint): boolean =>
    (isPortless || own.length > 0) &&
    (publishNotReadyAddresses === true || endpoint.conditions?.terminating !== true)
  const subsets = subsetsOf(wanted.filter(isShown))
  const labels: Record<string, string> = { ...service.metadata.labels, [managedByLabel]: managedBy }
  if (service.spec?.clusterIP === 'None') labels['service.kubernetes.io/headless'] = ''
  const annotations = { ...existing?.metadata.annotations }
  if (wanted.length > addressesMax) annotations[overCapacity] = 'truncated'
  else delete annotations[overCapacity]
  const isSame =
    existing !== undefined &&
    isDeepStrictEqual(existing.subsets ?? [], subsets) &&
    isDeepStrictEqual(existing.metadata.labels ?? {}, labels)
  if (isSame) return undefined
  const { name, namespace } = service.metadata
  const metadata = { ...(existing?.metadata ?? { name, namespace }), labels, annotations }
  return { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets }
}

interface PortAddresses {
  readonly ports: EndpointPort[]
  readonly ready: EndpointAddress[]
  readonly notReady: EndpointAddress[]
}

/** Lists each port once with its addresses. Ports with the same addresses share one subset. */
function subsetsOf(wanted: readonly PodEndpoint[]): EndpointSubset[] {
  const byPort = new Map<string, PortAddresses>()
  for (const each of wanted.slice(0, addressesMax)) {
    const ports = each.ports.length === 0 ? [undefined] : each.ports
    for (const port of ports) {
      const key = JSON.stringify(port ?? null)
      const group = byPort.get(key) ?? { ports: port ? [port] : [], ready: [], notReady: [] }
      group[each.endpoint.conditions?.ready === true ? 'ready' : 'notReady'].push(addressOf(each))
      byPort.set(key, group)
    }
  }
  const subsets = new Map<string, PortAddresses>()
  for (const group of byPort.values()) {
    const key = JSON.stringify([group.ready, group.notReady])
    const known = subsets.get(key)
    if (known === undefined) subsets.set(key, group)
    else known.ports.push(...group.ports)
  }
  const byIp = (a: EndpointAddress, b: EndpointAddress): number => (a.ip < b.ip ? -1 : 1)
  return [...subsets]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, ready, notReady }]) => ({
      ...(ready.length > 0 ? { addresses: ready.toSorted(byIp) } : {}),
      ...(notReady.length > 0 ? { notReadyAddresses: notReady.toSorted(byIp) } : {}),
      ...(ports.length > 0 ? { ports: inEndpointsOrder(ports) } : {}),
    }))
}

function addressOf({ endpoint }: PodEndpoint): EndpointAddress {
  return {
    ip: endpoint.addresses[0] ?? '',
    ...(endpoint.hostname === undefined ? {} : { hostname: endpoint.hostname }),
    ...(endpoint.nodeName === undefined ? {} : { nodeName: endpoint.nodeName }),
    targetRef: endpoint.targetRef,
  }
}
