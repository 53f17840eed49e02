import type { DiscoveryV1EndpointPort, EndpointSubset, Service, ServicePort } from '@skerry/api'

/** Formats `ip:port` of every ready address; only the ip if a subset has no ports. */
export function endpointTexts(subsets: readonly EndpointSubset[] | undefined): string[] {
  return (subsets ?? []).flatMap((subset) => {
    // A list that is required but empty may be null.
    const [addresses, ports] = [subset.addresses ?? [], subset.ports ?? []]
    if (ports.length === 0) return addresses.map(({ ip }) => ip)
    return ports.flatMap(({ port }) => addresses.map(({ ip }) => hostPort(ip, port)))
  })
}

export function slicePortTexts(ports: readonly DiscoveryV1EndpointPort[] | undefined): string[] {
  return (ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))
}

/** Formats `80/TCP`, and with a node port `80:30080/TCP`. */
export function servicePortsText(ports: readonly ServicePort[] | undefined): string {
  return (ports ?? [])
    .map(({ port, nodePort, protocol = 'TCP' }) =>
      nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
    )
    .join(',')
}

export function serviceExternalIpText({ spec, status }: Service): string {
  const external = spec?.externalIPs ?? []
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>'
    case 'LoadBalancer':
      return [...balancerAddresses(status?.loadBalancer), ...external].join(',') || '<pending>'
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

/** Returns the addresses of a load balancer, sorted, each once. */
export function balancerAddresses(
  status: { ingress?: readonly { ip?: string; hostname?: string }[] } | undefined,
): string[] {
  const addresses = (status?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [...new Set(addresses.filter((address) => address !== ''))].toSorted()
}

function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
