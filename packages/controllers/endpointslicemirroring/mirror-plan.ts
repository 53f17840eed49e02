import { isIP } from 'node:net'
import type {
  Endpoint,
  EndpointAddress,
  DiscoveryV1EndpointPort as SlicePort,
  EndpointSlice,
  EndpointSubset,
  Endpoints,
} from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import { sameStatus } from '../status/same-status.ts'
import { inSliceOrder } from '../endpointslice/port-order.ts'
import { controllerBounds } from '../limits-table.ts'

export const mirroredBy = 'endpointslicemirroring-controller.k8s.io'

const { addressesMax } = controllerBounds.mirrorPlan

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const lastChange = 'endpoints.kubernetes.io/last-change-trigger-time'

export interface MirrorPlan {
  create: EndpointSlice[]
  update: EndpointSlice[]
  remove: EndpointSlice[]
  invalidAddresses: number
  skippedAddresses: number
}

interface Group {
  addressType: 'IPv4' | 'IPv6'
  ports: SlicePort[]
  endpoints: Map<string, Endpoint>
}

/** Plans one slice for each set of ports and each address family. */
export function planMirror(endpoints: Endpoints, existing: readonly EndpointSlice[]): MirrorPlan {
  const plan: MirrorPlan = {
    create: [],
    update: [],
    remove: [],
    invalidAddresses: 0,
    skippedAddresses: 0,
  }
  const groups = new Map<string, Group>()
  for (const subset of endpoints.subsets ?? []) addSubset(subset, groups, plan)
  const free = new Set(existing)
  for (const [key, group] of groups) {
    const own = existing.find((slice) => keyOfSlice(slice) === key)
    if (own !== undefined) free.delete(own)
    const next = sliceOf(endpoints, group, own)
    if (own === undefined) plan.create.push(next)
    else if (!isSame(own, next)) plan.update.push(next)
  }
  // A slice to delete is overwritten instead if a new one is needed.
  for (const slice of free) {
    const next = plan.create.find((each) => each.addressType === slice.addressType)
    if (next === undefined) {
      plan.remove.push(slice)
      continue
    }
    plan.create.splice(plan.create.indexOf(next), 1)
    plan.update.push({ ...next, metadata: { ...slice.metadata, ...labelsAndNotes(next) } })
  }
  return plan
}

function addSubset(subset: EndpointSubset, groups: Map<string, Group>, plan: MirrorPlan): void {
  const ports = (subset.ports ?? []).map((port) => ({
    name: port.name ?? '',
    port: port.port,
    protocol: port.protocol ?? 'TCP',
    ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
  }))
  let added = 0
  const add = (address: EndpointAddress, ready: boolean): void => {
    const family = isIP(address.ip)
    if (family === 0) plan.invalidAddresses += 1
    if (family === 0 || added >= addressesMax) {
      plan.skippedAddresses += 1
      return
    }
    added += 1
    const addressType = family === 4 ? 'IPv4' : 'IPv6'
    const key = keyOf(addressType, ports)
    const group = groups.get(key) ?? { addressType, ports, endpoints: new Map() }
    group.endpoints.set(address.ip, endpointOf(address, ready))
    groups.set(key, group)
  }
  for (const address of subset.addresses ?? []) add(address, true)
  for (const address of subset.notReadyAddresses ?? []) add(address, false)
}

function endpointOf(address: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [address.ip],
    conditions: { ready },
    ...(address.targetRef === undefined ? {} : { targetRef: address.targetRef }),
    ...(address.nodeName === undefined ? {} : { nodeName: address.nodeName }),
    ...(address.hostname === undefined || address.hostname === ''
      ? {}
      : { hostname: address.hostname }),
  }
}

function sliceOf(
  endpoints: Endpoints,
  group: Group,
  own: EndpointSlice | undefined,
): EndpointSlice {
  const { name = '', namespace, labels, annotations = {} } = endpoints.metadata
  // An object that has its name needs no prefix, as upstream.
  const { generateName: _prefix, ...kept } = own?.metadata ?? {}
  const notes = Object.entries(annotations).filter(
    ([key]) => key !== lastApplied && key !== lastChange,
  )
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...(own === undefined ? { generateName: `${name}-`, namespace } : kept),
      labels: {
        ...labels,
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': mirroredBy,
      },
      annotations: Object.fromEntries(notes),
      ownerReferences: [controllerReference({ ...endpoints, apiVersion: 'v1', kind: 'Endpoints' })],
    },
    addressType: group.addressType,
    endpoints: [...group.endpoints.values()],
    ports: inSliceOrder(group.ports),
  }
}

function labelsAndNotes({ metadata }: EndpointSlice): EndpointSlice['metadata'] {
  const { labels, annotations, ownerReferences } = metadata
  return { labels, annotations, ownerReferences }
}

function isSame(own: EndpointSlice, next: EndpointSlice): boolean {
  return (
    sameStatus(own.metadata.labels, next.metadata.labels) &&
    sameStatus(own.metadata.annotations, next.metadata.annotations) &&
    JSON.stringify(byAddress(own)) === JSON.stringify(byAddress(next))
  )
}

function byAddress({ endpoints }: EndpointSlice): string[] {
  return (endpoints ?? [])
    .map(({ addresses, conditions, targetRef, nodeName, hostname }) =>
      JSON.stringify([addresses, conditions?.ready, targetRef?.uid, nodeName, hostname]),
    )
    .toSorted()
}

function keyOfSlice({ addressType, ports }: EndpointSlice): string {
  return keyOf(addressType, ports ?? [])
}

function keyOf(addressType: string, ports: readonly SlicePort[]): string {
  const texts = ports.map((each) =>
    [each.name ?? '', each.port ?? 0, each.protocol ?? 'TCP', each.appProtocol ?? ''].join('/'),
  )
  return [addressType, ...texts.toSorted()].join(' ')
}
