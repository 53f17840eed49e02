import type { Service } from '@skerry/api'
import type { ApiPlace } from '../kubelet-config.ts'

/**
 * The Docker-link style variables of services: the API server's own service for every pod, those
 * of the pod's namespace when it asks for service links (the default).
 */
export function serviceEnv(
  services: readonly Service[],
  options: { namespace: string; areLinksEnabled: boolean; api?: ApiPlace | undefined },
): Map<string, string> {
  const chosen = new Map<string, Service>()
  for (const service of services.toSorted(byName)) {
    const { name = '', namespace } = service.metadata
    const isApi = namespace === 'default' && name === 'kubernetes'
    const isLinked = options.areLinksEnabled && namespace === options.namespace
    if (!hasClusterIp(service) || !(isApi || isLinked)) continue
    if (isLinked || !chosen.has(name)) chosen.set(name, service)
  }
  const { api } = options
  const named = [...chosen.values()].filter((service) => !api || !isKubernetes(service))
  return new Map([...named, ...(api ? [serviceAt(api)] : [])].flatMap(variablesOf))
}

function isKubernetes({ metadata }: Service): boolean {
  return metadata.namespace === 'default' && metadata.name === 'kubernetes'
}

/** Clients in pods go where the variables of the service kubernetes lead. */
function serviceAt({ host, port }: ApiPlace): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIP: host, ports: [{ name: 'https', port, protocol: 'TCP' }] },
  }
}

function byName(one: Service, other: Service): number {
  return (one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1
}

function hasClusterIp({ spec }: Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None'
}

function variablesOf({ metadata, spec }: Service): [string, string][] {
  const prefix = variableName(metadata.name ?? '')
  const ip = spec?.clusterIP ?? ''
  const host = ip.includes(':') ? `[${ip}]` : ip
  const ports = spec?.ports ?? []
  const [first] = ports
  const variables: [string, string][] = [[`${prefix}_SERVICE_HOST`, ip]]
  if (!first) return variables
  variables.push([`${prefix}_SERVICE_PORT`, String(first.port)])
  for (const { name, port } of ports) {
    if (name) variables.push([`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)])
  }
  ports.forEach(({ port, protocol = 'TCP' }, index) => {
    const scheme = protocol.toLowerCase()
    const url = `${scheme}://${host}:${port}`
    if (index === 0) variables.push([`${prefix}_PORT`, url])
    const portPrefix = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`
    variables.push(
      [portPrefix, url],
      [`${portPrefix}_PROTO`, scheme],
      [`${portPrefix}_PORT`, String(port)],
      [`${portPrefix}_ADDR`, ip],
    )
  })
  return variables
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}
