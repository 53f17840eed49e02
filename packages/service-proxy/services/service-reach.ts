import type { Endpoint, EndpointSlice, Node, Service } from '@skerry/api'
import { nearEndpoints, topologyOf, type TopologyFault } from './near-endpoints.ts'
import { nodeLabelsOf, zoneKey, type NodeLabels } from './node-labels.ts'
import { hasClusterIp, isReady, planServicePorts } from './service-ports.ts'
import { hostnameKey } from './topology-annotations-table.ts'

/** The pods that a service leads to, by the nodes that ask. */
export interface ServiceReach {
  /** The labels whose values make a place, the nearest first. Empty if all nodes reach the same. */
  readonly keys: readonly string[]
  /** Annotations without a meaning: they keep no traffic anywhere. */
  readonly faults: readonly Omit<TopologyFault, 'service'>[]
  readonly endpoints: readonly ReachedEndpoint[]
  readonly places: readonly ReachPlace[]
}

export interface ReachedEndpoint {
  readonly address: string
  readonly node?: string
  readonly pod?: string
  readonly isReady: boolean
}

/** Nodes that reach the same endpoints. */
export interface ReachPlace {
  /** Their values of the keys; a label that they lack is left out. */
  readonly labels: Readonly<Record<string, string>>
  readonly nodes: readonly string[]
  /** Indexes of `endpoints`. */
  readonly endpoints: readonly number[]
}

/**
 * Decides for each node as its service network does which endpoints the cluster IP of a service leads to, or the names of a
 * headless one. Pure.
 */
export function serviceReach(
  service: Service,
  slices: readonly EndpointSlice[],
  nodes: readonly Node[],
): ServiceReach {
  const faults: Omit<TopologyFault, 'service'>[] = []
  const topology = topologyOf(service, (fault) => faults.push(fault))
  const all = slices.flatMap((slice) => slice.endpoints ?? [])
  const isHinted = all.some(({ hints }) => (hints?.forZones ?? []).length > 0)
  const keys = topology?.keys ?? (isHinted ? [zoneKey] : [])
  const endpoints = [...new Map(all.map((each) => [each.addresses[0] ?? '', shown(each)])).values()]
  const indexes = new Map(endpoints.map(({ address }, index) => [address, index]))
  const labels = nodeLabelsOf(nodes)
  const view = { service, slices, labels }
  const places = new Map<string, ReachPlace & { nodes: string[] }>()
  const known = new Map<string, readonly number[]>()
  const special = ownNodesOf(all)
  for (const nodeName of Object.keys(labels).toSorted()) {
    const own = pick(labels[nodeName] ?? {}, keys)
    // Nodes that have the same labels and no endpoint reach the same: only one of them is asked.
    const isAlone = special.has(nodeName) || (hostnameKey in own && own[hostnameKey] !== nodeName)
    const { [hostnameKey]: _host, ...shared } = own
    const key = JSON.stringify([shared, labels[nodeName]?.[zoneKey], isAlone ? nodeName : ''])
    const reached = known.get(key) ?? reachedFrom(nodeName, view, indexes)
    known.set(key, reached)
    const place = JSON.stringify([shared, reached])
    const found = places.get(place) ?? { labels: shared, nodes: [], endpoints: reached }
    places.set(place, found)
    found.nodes.push(nodeName)
  }
  const nameOf = ({ labels: own }: ReachPlace): string => JSON.stringify(own)
  const sorted = [...places.values()].toSorted((a, b) =>
    nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0,
  )
  return { keys, faults, endpoints, places: sorted }
}

/** Returns the nodes that have endpoints of their own, or are named by hints. */
function ownNodesOf(all: readonly Endpoint[]): Set<string> {
  return new Set(
    all.flatMap(({ nodeName, hints }) => [
      ...(nodeName === undefined ? [] : [nodeName]),
      ...(hints?.forNodes ?? []).map(({ name }) => name),
    ]),
  )
}

function pick(
  labels: Readonly<Record<string, string>>,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = labels[key]
      return value === undefined || value === '' ? [] : [[key, value]]
    }),
  )
}

function shown({ addresses, nodeName, targetRef, conditions }: Endpoint): ReachedEndpoint {
  return {
    address: addresses[0] ?? '',
    ...(nodeName === undefined ? {} : { node: nodeName }),
    ...(targetRef?.kind === 'Pod' && targetRef.name !== undefined ? { pod: targetRef.name } : {}),
    isReady: conditions?.ready ?? true,
  }
}

interface ReachView {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly labels: NodeLabels
}

function reachedFrom(
  nodeName: string,
  { service, slices, labels }: ReachView,
  indexes: ReadonlyMap<string, number>,
): readonly number[] {
  const near = nearEndpoints([service], slices, { nodeName, nodes: labels }).slices
  const addresses = hasClusterIp(service)
    ? planServicePorts([service], near, { nodeName, zone: labels[nodeName]?.[zoneKey] })
        .flatMap(({ internal }) => internal)
        .map(({ address }) => address)
    : near.flatMap(({ endpoints = [] }) => namedBy(service, endpoints ?? []))
  const found = new Set(addresses.map((address) => indexes.get(address) ?? -1))
  return [...found].filter((index) => index >= 0).toSorted((a, b) => a - b)
}

/** The names of a headless service lead to its ready endpoints, or to all that it publishes. */
function namedBy({ spec }: Service, endpoints: readonly Endpoint[]): string[] {
  return endpoints
    .filter((each) => spec?.publishNotReadyAddresses === true || isReady(each))
    .flatMap(({ addresses: [address] }) => (address === undefined ? [] : [address]))
}
