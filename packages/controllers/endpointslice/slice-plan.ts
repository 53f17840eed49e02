import { isDeepStrictEqual } from 'node:util'
import type { EndpointPort, EndpointSlice, Service } from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import type { PodEndpoint } from './endpoint-plan.ts'
import { inSliceOrder } from './port-order.ts'
import { endpointsPerSliceMax } from '../limits-table.ts'

export const managedBy = 'endpointslice-controller.k8s.io'

export interface SlicePlan {
  create: EndpointSlice[]
  update: EndpointSlice[]
  remove: EndpointSlice[]
}

/**
 * Groups endpoints by their ports and fills each group into its existing slices, so that one pod's
 * change writes one slice.
 */
export function planSlices(
  service: Service,
  wanted: readonly PodEndpoint[],
  existing: readonly EndpointSlice[],
): SlicePlan {
  const plan: SlicePlan = { create: [], update: [], remove: [] }
  const groups = groupByPorts(service, wanted)
  const free = new Set(existing)
  for (const [portsKey, group] of groups) {
    const own = existing.filter((slice) => keyOfPorts(slice.ports ?? []) === portsKey)
    for (const slice of own) free.delete(slice)
    planGroup(service, group, { own, plan })
  }
  plan.remove.push(...free)
  return recycled(service, plan)
}

/** Reuses a slice to remove for one to create, so that readers see one change, not two. */
function recycled(service: Service, plan: SlicePlan): SlicePlan {
  const { create, update, remove } = plan
  const count = Math.min(create.length, remove.length)
  const reused = create.slice(0, count).flatMap((slice, place) => {
    const old = remove[place]
    return old === undefined ? [] : [{ ...slice, metadata: nextMeta(service, old) }]
  })
  return {
    create: create.slice(count),
    update: [...update, ...reused],
    remove: remove.slice(count),
  }
}

type Group = { ports: readonly EndpointPort[]; endpoints: PodEndpoint[] }

/** A service without endpoints keeps one empty slice, which shows readers that it was processed. */
function groupByPorts(service: Service, wanted: readonly PodEndpoint[]): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const each of wanted) {
    const key = keyOfPorts(each.ports)
    const group = groups.get(key) ?? { ports: each.ports, endpoints: [] }
    group.endpoints.push(each)
    groups.set(key, group)
  }
  if (groups.size === 0 && service.spec !== undefined) {
    groups.set(keyOfPorts([]), { ports: [], endpoints: [] })
  }
  return groups
}

function planGroup(
  service: Service,
  group: Group,
  { own, plan }: { own: readonly EndpointSlice[]; plan: SlicePlan },
): void {
  const missing = new Map(group.endpoints.map((each) => [addressOf(each), each]))
  const kept = own.map((slice) => ({
    slice,
    endpoints: (slice.endpoints ?? []).flatMap((endpoint) => {
      const key = endpoint.targetRef?.uid ?? endpoint.addresses[0] ?? ''
      const next = missing.get(key)
      missing.delete(key)
      return next === undefined ? [] : [next.endpoint]
    }),
  }))
  const rest = [...missing.values()].map((each) => each.endpoint)
  for (const each of kept) {
    const room = endpointsPerSliceMax - each.endpoints.length
    each.endpoints.push(...rest.splice(0, Math.max(0, room)))
  }
  for (const { slice, endpoints } of kept) {
    if (endpoints.length === 0 && (kept.length > 1 || group.endpoints.length > 0))
      plan.remove.push(slice)
    else if (differs(service, slice, endpoints))
      plan.update.push({
        ...sliceOf(service, group, endpoints),
        metadata: nextMeta(service, slice),
      })
  }
  while (rest.length > 0 || (kept.length === 0 && group.endpoints.length === 0)) {
    plan.create.push(sliceOf(service, group, rest.splice(0, endpointsPerSliceMax)))
    if (rest.length === 0) return
  }
}

function addressOf(each: PodEndpoint): string {
  return each.endpoint.targetRef?.uid ?? each.endpoint.addresses[0] ?? ''
}

function differs(
  service: Service,
  slice: EndpointSlice,
  endpoints: EndpointSlice['endpoints'],
): boolean {
  return (
    !isDeepStrictEqual(slice.endpoints ?? [], endpoints) ||
    !isDeepStrictEqual(slice.metadata.labels, nextMeta(service, slice).labels)
  )
}

function sliceOf(
  service: Service,
  group: Group,
  endpoints: EndpointSlice['endpoints'],
): EndpointSlice {
  const { name = '', namespace } = service.metadata
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: labelsOf(service),
      ownerReferences: [controllerReference(service)],
    },
    addressType: 'IPv4',
    endpoints,
    ports: inSliceOrder(group.ports),
  }
}

function nextMeta(service: Service, slice: EndpointSlice): EndpointSlice['metadata'] {
  return { ...slice.metadata, labels: labelsOf(service) }
}

/** Returns the service's own labels, and those by which readers find slices. */
function labelsOf(service: Service): Record<string, string> {
  const labels: Record<string, string> = {
    ...service.metadata.labels,
    'kubernetes.io/service-name': service.metadata.name ?? '',
    'endpointslice.kubernetes.io/managed-by': managedBy,
  }
  if (service.spec?.clusterIP === 'None') labels['service.kubernetes.io/headless'] = ''
  return labels
}

function keyOfPorts(ports: readonly EndpointPort[] | EndpointSlice['ports']): string {
  const texts = (ports ?? []).map(
    (port) =>
      `${port.name ?? ''}/${port.port ?? 0}/${port.protocol ?? 'TCP'}/${port.appProtocol ?? ''}`,
  )
  return texts.toSorted().join(',')
}
