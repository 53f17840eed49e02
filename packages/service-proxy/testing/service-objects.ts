import type { Endpoint, EndpointSlice, Service } from '@skerry/api'

export interface EndpointDraft {
  address: string
  node?: string
  ready?: boolean
  serving?: boolean
  hostname?: string
  hints?: Endpoint['hints']
}

export function service(name: string, spec: Service['spec']): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'shop' }, spec }
}

export function slice(
  serviceName: string,
  endpoints: readonly EndpointDraft[],
  port = 8080,
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${serviceName}-1`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': serviceName },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port, protocol: 'TCP' }],
    endpoints: endpoints.map((draft) => ({
      addresses: [draft.address],
      nodeName: draft.node ?? 'a',
      conditions: { ready: draft.ready ?? true, serving: draft.serving ?? draft.ready ?? true },
      ...(draft.hostname === undefined ? {} : { hostname: draft.hostname }),
      ...(draft.hints === undefined ? {} : { hints: draft.hints }),
    })),
  }
}
