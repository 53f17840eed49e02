import type { Endpoint, EndpointPort, Node, Pod, Service } from '@skerry/api'
import { isPodFinished, isPodReady } from '../pods/pod-state.ts'

/** One pod as an endpoint of a service, with its numbers for the service's ports. */
export interface PodEndpoint {
  endpoint: Endpoint
  ports: readonly EndpointPort[]
}

/** Pods without an address, finished pods, and deleted pods that do not serve have no endpoint. */
export function podEndpoints(
  service: Service,
  pods: readonly Pod[],
  nodeOf: (name: string) => Node | undefined,
): PodEndpoint[] {
  const showsUnready = service.spec?.publishNotReadyAddresses === true
  return pods.flatMap((pod) => {
    const address = pod.status?.podIP ?? ''
    if (address === '' || isPodFinished(pod)) return []
    return [
      {
        endpoint: endpointOf(service, pod, { showsUnready, nodeOf }),
        ports: portsOf(service, pod),
      },
    ]
  })
}

function endpointOf(
  service: Service,
  pod: Pod,
  options: { showsUnready: boolean; nodeOf: (name: string) => Node | undefined },
): Endpoint {
  const isTerminating = pod.metadata.deletionTimestamp !== undefined
  const isServing = isPodReady(pod)
  const nodeName = pod.spec?.nodeName
  const zone = zoneOf(options.nodeOf(nodeName ?? ''))
  const { name, namespace, uid } = pod.metadata
  const isReady = options.showsUnready || (isServing && !isTerminating)
  const hints = isReady ? hintsOf(service, { zone, nodeName }) : undefined
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: {
      ready: isReady,
      serving: isServing,
      terminating: isTerminating,
    },
    ...(hints === undefined ? {} : { hints }),
    ...(hasOwnName(service, pod) ? { hostname: pod.spec?.hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}

export function zoneOf(node: Node | undefined): string | undefined {
  return node?.metadata.labels?.['topology.kubernetes.io/zone']
}

/** Returns which zones or nodes should prefer the endpoint, if the service prefers near ones (KEP-3015). */
function hintsOf(
  { spec, metadata }: Service,
  { zone, nodeName }: { zone: string | undefined; nodeName: string | undefined },
): Endpoint['hints'] {
  const distribution = spec?.trafficDistribution ?? ''
  const isAnnotated = metadata.annotations?.['service.kubernetes.io/topology-mode'] !== undefined
  const isNear = ['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(distribution)
  if (!isNear || isAnnotated) return undefined
  const forNodes = distribution === 'PreferSameNode' && nodeName !== undefined
  if (zone === undefined && !forNodes) return undefined
  return {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(forNodes ? { forNodes: [{ name: nodeName }] } : {}),
  }
}

/** A pod whose subdomain is the service's name has its own DNS name, like those of a StatefulSet. */
function hasOwnName(service: Service, pod: Pod): boolean {
  return (
    (pod.spec?.hostname ?? '') !== '' &&
    pod.spec?.subdomain === service.metadata.name &&
    pod.metadata.namespace === service.metadata.namespace
  )
}

/** A named target port may be a different number in each pod, so ports are found per pod. */
function portsOf(service: Service, pod: Pod): EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((port) => {
    const number = targetPortOf(port.targetPort, port.port, {
      pod,
      protocol: port.protocol ?? 'TCP',
    })
    if (number === undefined) return []
    return [
      {
        name: port.name ?? '',
        port: number,
        protocol: port.protocol ?? 'TCP',
        ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
      },
    ]
  })
}

function targetPortOf(
  target: number | string | undefined,
  servicePort: number,
  { pod, protocol }: { pod: Pod; protocol: string },
): number | undefined {
  if (target === undefined || target === 0 || target === '') return servicePort
  if (typeof target === 'number') return target
  const sidecars = (pod.spec?.initContainers ?? []).filter(
    (each) => each.restartPolicy === 'Always',
  )
  for (const container of [...(pod.spec?.containers ?? []), ...sidecars]) {
    for (const port of container.ports ?? []) {
      if (port.name === target && (port.protocol ?? 'TCP') === protocol) return port.containerPort
    }
  }
  return undefined
}
