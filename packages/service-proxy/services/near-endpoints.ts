import type { Endpoint, EndpointSlice, Service } from '@skerry/api'
import { zoneKey, type NodeLabels } from './node-labels.ts'
import { groupByService, hasClusterIp, isServing, keyOf } from './service-ports.ts'
import { perService } from './per-service.ts'
import { hostnameKey, topologyAnnotations, type Topology } from './topology-annotations-table.ts'

/** A node, and the labels of all nodes. */
export interface NodePlace {
  readonly nodeName: string
  readonly nodes: NodeLabels
}

/** An annotation whose value means nothing, so that the service keeps all its endpoints. */
export interface TopologyFault {
  /** namespace/name. */
  readonly service: string
  readonly annotation: string
  readonly value: string
}

export interface NearEndpoints {
  readonly slices: readonly EndpointSlice[]
  readonly faults: readonly TopologyFault[]
}

const remembered = perService<EndpointSlice[]>()

/** The API server has no place. */
const placeless = 'default/kubernetes'

/**
 * Takes out the endpoints that services keep this node from using by an annotation. Pure.
 *
 * A service with a cluster IP uses the endpoints of the first key that has some that serve. A headless one keeps those of
 * all keys, because its names are for single endpoints. An endpoint without a node is near nobody.
 */
export function nearEndpoints(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  place: NodePlace,
): NearEndpoints {
  const faults: TopologyFault[] = []
  const closed = new Map<string, EndpointSlice[]>()
  const slicesOf = groupByService(slices)
  for (const service of services) {
    const key = keyOf(service.metadata.namespace, service.metadata.name)
    const topology = topologyOf(service, (fault) => faults.push({ service: key, ...fault }))
    if (topology === undefined || key === placeless) continue
    const own = slicesOf.get(key) ?? []
    const parts = [...own, place.nodes, place.nodeName]
    const near = remembered(service, parts, () => nearSlices(own, { service, topology, place }))
    closed.set(key, near)
  }
  if (closed.size === 0) return { slices, faults }
  const open = [...slicesOf].filter(([key]) => !closed.has(key)).flatMap(([, own]) => own)
  return { slices: [...open, ...[...closed.values()].flat()], faults }
}

/** Returns the keys of all labels that decide about an endpoint of these services. */
export function topologyKeysOf(services: readonly Service[]): Set<string> {
  const topologies = services.map((service) => topologyOf(service, () => {}))
  return new Set([hostnameKey, zoneKey, ...topologies.flatMap((each) => each?.keys ?? [])])
}

/** Returns the places that a service keeps its traffic in by an annotation, if it does. */
export function topologyOf(
  { metadata }: Service,
  onFault: (fault: Omit<TopologyFault, 'service'>) => void,
): Topology | undefined {
  for (const { annotation, read } of topologyAnnotations) {
    const value = metadata.annotations?.[annotation]
    if (value === undefined) continue
    const topology = read(value)
    if (topology !== undefined) return topology
    onFault({ annotation, value })
  }
  return undefined
}

function nearSlices(
  slices: readonly EndpointSlice[],
  of: { readonly service: Service; readonly topology: Topology; readonly place: NodePlace },
): EndpointSlice[] {
  const { keys, isOpen } = of.topology
  const all = slices.flatMap(({ endpoints }) => endpoints ?? [])
  const tests = keys.map((key) => nearBy(key, of.place))
  const isNear = (endpoint: Endpoint): boolean => tests.some((test) => test(endpoint))
  const someServe = (test: (endpoint: Endpoint) => boolean): boolean =>
    all.some((endpoint) => isServing(endpoint) && test(endpoint))
  const nearest = hasClusterIp(of.service) ? tests.find(someServe) : undefined
  if (nearest === undefined && isOpen && !someServe(isNear)) return [...slices]
  const kept = nearest ?? isNear
  return slices.map((slice) => ({ ...slice, endpoints: (slice.endpoints ?? []).filter(kept) }))
}

function nearBy(key: string, { nodeName, nodes }: NodePlace): (endpoint: Endpoint) => boolean {
  const valueOf = (node: string): string | undefined =>
    nodes[node]?.[key] ?? (key === hostnameKey ? node : undefined)
  const own = valueOf(nodeName)
  // An empty value stands for no place, as in SuperEdge.
  if (!own) return () => false
  return (endpoint) => endpoint.nodeName !== undefined && valueOf(endpoint.nodeName) === own
}
