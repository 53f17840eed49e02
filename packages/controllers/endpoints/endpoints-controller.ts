import { isDeepStrictEqual } from 'node:util'
import {
  isStatusError,
  type EndpointAddress,
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
import { hasSelector, podsOfService, servicesOfPod } from '../endpointslice/services-of-pod.ts'

const settleMs = 50
/** More addresses than this are cut, and the object says so (upstream's rule). */
const addressesMax = 1_000
const overCapacity = 'endpoints.kubernetes.io/over-capacity'

/** Keeps the older Endpoints object of every service with a selector, for those who still read it. */
export const endpointsController: ControllerDefinition = {
  name: 'endpoints-controller',
  watches: [
    watch(resources.services, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, { keysOf: servicesOfPod, delayMs: settleMs }),
    watch(resources.endpoints, { keysOf: ({ object }) => [keyOfObject(object)] }),
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
  if (service === undefined) {
    // Leader election leaves Endpoints without a service alone.
    const isLock =
      existing?.metadata.annotations?.['control-plane.alpha.kubernetes.io/leader'] !== undefined
    const isManaged = existing?.metadata.labels?.[managedByLabel] === managedBy
    if (existing !== undefined && isManaged && !isLock) await deleteQuietly(key, context, signal)
    return
  }
  if (!hasSelector(service)) return
  const next = planEndpoints(
    service,
    podEndpoints(service, podsOfService(service, context), () => undefined),
    existing,
  )
  if (next === undefined) return
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

/** What the object should be; undefined when it is that already. */
export function planEndpoints(
  service: Service,
  wanted: readonly PodEndpoint[],
  existing: Endpoints | undefined,
): Endpoints | undefined {
  const subsets = subsetsOf(wanted.filter((each) => each.endpoint.conditions?.terminating !== true))
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

function subsetsOf(wanted: readonly PodEndpoint[]): EndpointSubset[] {
  const groups = new Map<
    string,
    { ready: EndpointAddress[]; notReady: EndpointAddress[]; from: PodEndpoint }
  >()
  for (const each of wanted.slice(0, addressesMax)) {
    const key = JSON.stringify(each.ports)
    const group = groups.get(key) ?? { ready: [], notReady: [], from: each }
    const { endpoint } = each
    const address: EndpointAddress = {
      ip: endpoint.addresses[0] ?? '',
      ...(endpoint.hostname === undefined ? {} : { hostname: endpoint.hostname }),
      ...(endpoint.nodeName === undefined ? {} : { nodeName: endpoint.nodeName }),
      targetRef: endpoint.targetRef,
    }
    group[endpoint.conditions?.ready === true ? 'ready' : 'notReady'].push(address)
    groups.set(key, group)
  }
  const byIp = (a: EndpointAddress, b: EndpointAddress): number => (a.ip < b.ip ? -1 : 1)
  return [...groups.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => ({
      ...(group.ready.length > 0 ? { addresses: group.ready.toSorted(byIp) } : {}),
      ...(group.notReady.length > 0 ? { notReadyAddresses: group.notReady.toSorted(byIp) } : {}),
      ...(group.from.ports.length > 0 ? { ports: [...group.from.ports] } : {}),
    }))
}
