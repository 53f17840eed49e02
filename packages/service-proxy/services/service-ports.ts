import type {
  DiscoveryV1EndpointPort,
  Endpoint,
  EndpointSlice,
  Service,
  ServicePort,
} from '@skerry/api'
import { outermostRanges } from './ipv4-ranges.ts'
import { perService } from './per-service.ts'

export type Protocol = 'tcp' | 'udp' | 'sctp'

export interface Backend {
  address: string
  port: number
}

/** Where this node is. */
export interface NodeZone {
  readonly nodeName: string
  /** Its label topology.kubernetes.io/zone, if it has one. */
  readonly zone?: string | undefined
}

/** One port of one service with the endpoints that may receive its traffic now. */
export interface ServicePortBackends {
  /** namespace/name:port, for rule names and messages. */
  name: string
  /** namespace/name. */
  service: string
  /** The service's creation time, RFC 3339. If two services want one address, the older one gets it. */
  createdAt: string
  uid: string
  protocol: Protocol
  port: number
  nodePort: number | undefined
  clusterIps: readonly string[]
  /** External IPs and load balancer addresses. */
  externalIps: readonly string[]
  /** The clients that may use the load balancer's addresses. Undefined if all may. */
  sources: AllowedSources | undefined
  /** The seconds of ClientIP affinity, or undefined without it. */
  affinitySeconds: number | undefined
  /** The endpoints for traffic to a cluster IP. */
  internal: readonly Backend[]
  /** The endpoints for traffic to a node port, an external IP or a load balancer address. */
  external: readonly Backend[]
  /**
   * The endpoints that no policy keeps to a node. Clients inside the cluster use them even where outside traffic stays on
   * its node.
   */
  everywhere: readonly Backend[]
  /** externalTrafficPolicy Local keeps the client's address, so nothing is masqueraded. */
  keepsClientAddress: boolean
}

/** `loadBalancerSourceRanges`, which do not concern external IPs and node ports. */
export interface AllowedSources {
  readonly addresses: readonly string[]
  /** IPv4 ranges, none within another. */
  readonly ranges: readonly string[]
}

const affinitySecondsDefault = 10_800

const remembered = perService<ServicePortBackends[]>()

/**
 * Plans which endpoint serves which port. A pure function. Headless and ExternalName services have
 * no rules.
 */
export function planServicePorts(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  place: NodeZone,
): ServicePortBackends[] {
  const slicesOf = groupByService(slices)
  const ports: ServicePortBackends[] = []
  for (const service of services) {
    const spec = service.spec
    if (spec === undefined || !hasClusterIp(service)) continue
    const own = slicesOf.get(keyOf(service.metadata.namespace, service.metadata.name)) ?? []
    const parts = [...own, place.nodeName, place.zone]
    const planned = remembered(service, parts, () =>
      (spec.ports ?? []).map((port) => planPort(service, port, { own, place })),
    )
    ports.push(...planned)
  }
  return ports.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export function hasClusterIp(service: Service): boolean {
  const clusterIp = service.spec?.clusterIP
  return (
    service.spec?.type !== 'ExternalName' &&
    clusterIp !== undefined &&
    clusterIp !== '' &&
    clusterIp !== 'None'
  )
}

function planPort(
  service: Service,
  port: ServicePort,
  { own, place }: { own: readonly EndpointSlice[]; place: NodeZone },
): ServicePortBackends {
  const spec = service.spec ?? {}
  const key = keyOf(service.metadata.namespace, service.metadata.name)
  const candidates = candidatesOf(own, port)
  const local = backendsOf(candidates.filter(({ endpoint }) => isOn(endpoint, place)))
  const cluster = backendsOf(hintedTo(place, candidates))
  const isExternalLocal = spec.externalTrafficPolicy === 'Local'
  const isInternalLocal = spec.internalTrafficPolicy === 'Local'
  return {
    name: `${key}:${port.name ?? ''}`,
    service: key,
    createdAt: service.metadata.creationTimestamp ?? '',
    uid: service.metadata.uid ?? '',
    protocol: protocolOf(port.protocol),
    port: port.port,
    nodePort: port.nodePort === 0 ? undefined : port.nodePort,
    clusterIps: spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]),
    externalIps: [...new Set([...(spec.externalIPs ?? []), ...balancerAddresses(service)])],
    sources: allowedSources(service),
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySecondsDefault)
        : undefined,
    internal: isInternalLocal ? local : cluster,
    external: isExternalLocal ? local : cluster,
    everywhere: cluster,
    keepsClientAddress: isExternalLocal,
  }
}

function balancerAddresses({ status }: Service): string[] {
  // A load balancer that is a proxy must receive its traffic itself (KEP-1860).
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) =>
    ip === undefined || ipMode === 'Proxy' ? [] : [ip],
  )
}

/** Ranges of IPv6 let no client of IPv4 in, even if they are the only ones. */
function allowedSources(service: Service): AllowedSources | undefined {
  const given = service.spec?.loadBalancerSourceRanges ?? []
  const addresses = balancerAddresses(service)
  if (given.length === 0 || addresses.length === 0) return undefined
  return { addresses, ranges: outermostRanges(given) }
}

interface Candidate {
  readonly endpoint: Endpoint
  readonly port: number
}

function candidatesOf(slices: readonly EndpointSlice[], port: ServicePort): Candidate[] {
  const found: Candidate[] = []
  for (const slice of slices) {
    if (slice.addressType !== 'IPv4') continue
    const target = (slice.ports ?? []).find((candidate) => isSamePort(candidate, port))
    if (target?.port === undefined) continue
    for (const endpoint of slice.endpoints ?? []) found.push({ endpoint, port: target.port })
  }
  return found
}

/**
 * Returns ready endpoints or, if there are none, those that still serve while they terminate
 * (KEP-1669), so that a rollout of a single pod does not refuse what the old pod would still
 * answer.
 */
function backendsOf(candidates: readonly Candidate[]): Backend[] {
  const ready = candidates.filter(({ endpoint }) => isReady(endpoint))
  const chosen = ready.length > 0 ? ready : candidates.filter(({ endpoint }) => isServing(endpoint))
  const byAddress = new Map<string, Backend>()
  for (const { endpoint, port } of chosen) {
    const address = endpoint.addresses[0]
    if (address !== undefined) byAddress.set(`${address}:${port}`, { address, port })
  }
  return [...byAddress.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, backend]) => backend)
}

/**
 * Returns the endpoints that the hints of the slices give to this node or, if not, to its zone (`trafficDistribution`). Hints
 * count only if each ready endpoint has them and one of them is for this place, as in kube-proxy.
 */
function hintedTo(
  { nodeName, zone }: NodeZone,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const ready = candidates.filter(({ endpoint }) => isReady(endpoint))
  const hinted = (
    names: (endpoint: Endpoint) => readonly { name: string }[],
    own: string | undefined,
  ): Candidate[] => {
    if (!ready.every(({ endpoint }) => names(endpoint).length > 0)) return []
    return ready.filter(({ endpoint }) => names(endpoint).some(({ name }) => name === own))
  }
  const forNode = hinted(({ hints }) => hints?.forNodes ?? [], nodeName)
  if (forNode.length > 0) return forNode
  const forZone = hinted(({ hints }) => hints?.forZones ?? [], zone)
  return forZone.length > 0 ? forZone : candidates
}

export function isOn(endpoint: Endpoint, { nodeName }: Pick<NodeZone, 'nodeName'>): boolean {
  return endpoint.nodeName === nodeName
}

function isSamePort(candidate: DiscoveryV1EndpointPort, port: ServicePort): boolean {
  return (
    (candidate.name ?? '') === (port.name ?? '') &&
    (candidate.protocol ?? 'TCP') === (port.protocol ?? 'TCP')
  )
}

/** discovery/v1: an unset `ready` means true. */
export function isReady(endpoint: Endpoint): boolean {
  return endpoint.conditions?.ready ?? true
}

export function isServing(endpoint: Endpoint): boolean {
  return endpoint.conditions?.serving ?? isReady(endpoint)
}

export function groupByService(slices: readonly EndpointSlice[]): Map<string, EndpointSlice[]> {
  const groups = new Map<string, EndpointSlice[]>()
  for (const slice of slices) {
    const name = slice.metadata.labels?.['kubernetes.io/service-name']
    if (name === undefined) continue
    const key = keyOf(slice.metadata.namespace, name)
    const group = groups.get(key)
    if (group) group.push(slice)
    else groups.set(key, [slice])
  }
  return groups
}

export function keyOf(namespace: string | undefined, name: string | undefined): string {
  return `${namespace ?? ''}/${name ?? ''}`
}

export function protocolOf(protocol: string | undefined): Protocol {
  switch (protocol) {
    case 'UDP':
      return 'udp'
    case 'SCTP':
      return 'sctp'
    default:
      return 'tcp'
  }
}
