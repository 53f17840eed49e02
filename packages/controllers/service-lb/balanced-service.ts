import type { EndpointSlice, LoadBalancerIngress, Pod, Service } from '@skerry/api'
import { serviceBalancer } from '@skerry/service-proxy'

/** A service, and the addresses that it is to have. */
export interface Balance {
  readonly service: Service
  readonly ingress: readonly LoadBalancerIngress[]
  /** The users of its ports on nodes, in words for people, e.g. `node a: port 22/tcp: …`. */
  readonly portFaults: readonly string[]
  /** Why it has no address, in words for people. Undefined if it has one. */
  readonly fault: string | undefined
}

/** Reports whether the service is this balancer's. */
export function isBalanced({ spec, metadata }: Service): boolean {
  const ownClass =
    spec?.loadBalancerClass === undefined || spec.loadBalancerClass === serviceBalancer.className
  return spec?.type === 'LoadBalancer' && ownClass && metadata.deletionTimestamp === undefined
}

/** The oldest comes first, so that a new service takes nothing from another one. */
export function oldestFirst(services: readonly Service[]): Service[] {
  const keyed = services.map((service) => {
    const { creationTimestamp, uid } = service.metadata
    return { service, key: `${creationTimestamp} ${uid}` }
  })
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ service }) => service)
}

/** Returns `80/tcp` for each port, once. */
export function portTexts({ spec }: Service): string[] {
  return [...new Set((spec?.ports ?? []).map((each) => portText(each)))]
}

function portText({ port, protocol }: { port: number; protocol?: string }): string {
  return `${port}/${(protocol ?? 'TCP').toLowerCase()}`
}

export function ingressAt(ip: string, { spec }: Service): LoadBalancerIngress {
  const ports = (spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }))
  return { ip, ipMode: 'VIP', ports }
}

export function serviceName({ metadata: { namespace, name } }: Service): string {
  return `${namespace}/${name}`
}

/** Returns the nodes with a ready endpoint of the service. */
export function endpointNodes(slices: readonly EndpointSlice[]): Set<string> {
  const ready = slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
  return new Set(ready.flatMap(({ nodeName }) => nodeName ?? []))
}

export function staysOnNode({ spec }: Service): boolean {
  return spec?.externalTrafficPolicy === 'Local'
}

/** Returns the ports of their node that pods take, as `80/tcp` with the pod, by the node's name. */
export function hostPortsByNode(pods: readonly Pod[]): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const pod of pods) {
    const ports = hostPortsOf(pod)
    const nodeName = pod.spec?.nodeName
    if (ports.length === 0 || nodeName === undefined) continue
    const ofNode = found.get(nodeName) ?? new Map<string, string>()
    found.set(nodeName, ofNode)
    for (const port of ports) ofNode.set(port, `pod ${pod.metadata.namespace}/${pod.metadata.name}`)
  }
  return found
}

export function hostPortsOf({ spec, status }: Pod): string[] {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return []
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, protocol }) =>
      hostPort ? [portText({ port: hostPort, protocol })] : [],
    ),
  )
}
