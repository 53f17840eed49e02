import type {
  DiscoveryV1EndpointPort,
  Endpoint,
  EndpointSlice,
  Service,
  ServicePort,
} from '@skerry/api'

export type Protocol = 'tcp' | 'udp' | 'sctp'

export interface Backend {
  address: string
  port: number
  isLocal: boolean
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
  /** The seconds of ClientIP affinity, or undefined without it. */
  affinitySeconds: number | undefined
  /** The endpoints for traffic to a cluster IP. */
  internal: readonly Backend[]
  /** The endpoints for traffic to a node port, an external IP or a load balancer address. */
  external: readonly Backend[]
  /** externalTrafficPolicy Local keeps the client's address, so nothing is masqueraded. */
  keepsClientAddress: boolean
}

const affinitySecondsDefault = 10_800

/**
 * Plans which endpoint serves which port. A pure function. Headless and ExternalName services have
 * no rules.
 */
export function planServicePorts(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  nodeName: string,
): ServicePortBackends[] {
  const slicesOf = groupByService(slices)
  const ports: ServicePortBackends[] = []
  for (const service of services) {
    const spec = service.spec
    if (spec === undefined || !hasClusterIp(service)) continue
    const own = slicesOf.get(keyOf(service.metadata.namespace, service.metadata.name)) ?? []
    for (const port of spec.ports ?? []) ports.push(planPort(service, port, { own, nodeName }))
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
  context: { own: readonly EndpointSlice[]; nodeName: string },
): ServicePortBackends {
  const spec = service.spec ?? {}
  const key = keyOf(service.metadata.namespace, service.metadata.name)
  const usable = usableBackends(context.own, port, context.nodeName)
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
    externalIps: [
      ...(spec.externalIPs ?? []),
      // A load balancer that is a proxy must receive its traffic itself (KEP-1860).
      ...(service.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) =>
        ip === undefined || ipMode === 'Proxy' ? [] : [ip],
      ),
    ],
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySecondsDefault)
        : undefined,
    internal: isInternalLocal ? usable.filter((backend) => backend.isLocal) : usable,
    external: isExternalLocal ? usable.filter((backend) => backend.isLocal) : usable,
    keepsClientAddress: isExternalLocal,
  }
}

/**
 * Returns ready endpoints or, if there are none, those that still serve while they terminate
 * (KEP-1669), so that a rollout of a single pod does not refuse what the old pod would still
 * answer.
 */
function usableBackends(
  slices: readonly EndpointSlice[],
  port: ServicePort,
  nodeName: string,
): Backend[] {
  const ready = new Map<string, Backend>()
  const serving = new Map<string, Backend>()
  for (const slice of slices) {
    if (slice.addressType !== 'IPv4') continue
    const target = (slice.ports ?? []).find((candidate) => isSamePort(candidate, port))
    if (target?.port === undefined) continue
    for (const endpoint of slice.endpoints ?? []) {
      const address = endpoint.addresses[0]
      if (address === undefined) continue
      const backend = { address, port: target.port, isLocal: endpoint.nodeName === nodeName }
      if (isReady(endpoint)) ready.set(`${address}:${target.port}`, backend)
      else if (isServing(endpoint)) serving.set(`${address}:${target.port}`, backend)
    }
  }
  const chosen = ready.size > 0 ? ready : serving
  return [...chosen.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, backend]) => backend)
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

function isServing(endpoint: Endpoint): boolean {
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

function protocolOf(protocol: string | undefined): Protocol {
  switch (protocol) {
    case 'UDP':
      return 'udp'
    case 'SCTP':
      return 'sctp'
    default:
      return 'tcp'
  }
}
