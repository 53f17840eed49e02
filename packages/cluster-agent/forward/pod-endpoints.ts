import type { Pod, Service, ServicePort } from '@skerry/api'

export interface PodEndpoint {
  readonly host: string
  readonly port: number
  /** Name of the pod's node. */
  readonly node: string
}

/**
 * Returns a service's endpoints by its own selector: ready pods, at the addresses that their nodes report and
 * at the port that the service names. It reads the pods, because a user who may write EndpointSlices could
 * name any address and port. Pods in the host's network have a node's address and are left out; so are those
 * without a node, which no kubelet runs.
 */
export function podEndpoints(
  { spec }: Service,
  port: Pick<ServicePort, 'port' | 'targetPort'>,
  pods: readonly Pod[],
): PodEndpoint[] {
  const takesUnready = spec?.publishNotReadyAddresses === true
  return pods.flatMap((pod) => {
    const host = pod.status?.podIP
    const node = pod.spec?.nodeName ?? ''
    if (host === undefined || host === '' || pod.spec?.hostNetwork === true) return []
    if (node === '') return []
    if (!selects(spec?.selector ?? {}, pod) || hasEnded(pod)) return []
    if (!takesUnready && !isReady(pod)) return []
    const number = targetPortOf(port, pod)
    return number === undefined ? [] : [{ host, port: number, node }]
  })
}

/** An empty selector selects nothing: such a service has endpoints by hand. */
export function hasSelector({ spec }: Service): boolean {
  return Object.keys(spec?.selector ?? {}).length > 0
}

function selects(selector: Readonly<Record<string, string>>, { metadata }: Pod): boolean {
  const entries = Object.entries(selector)
  return entries.length > 0 && entries.every(([key, value]) => metadata.labels?.[key] === value)
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded'
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false
  return (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True')
}

/** The number that the service names, or the container port that it names; its own port by default. */
function targetPortOf(
  { port, targetPort = port }: Pick<ServicePort, 'port' | 'targetPort'>,
  { spec }: Pod,
): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const sidecars = (spec?.initContainers ?? []).filter((each) => each.restartPolicy === 'Always')
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((each) => each.ports ?? [])
  return ports.find(({ name, protocol = 'TCP' }) => name === targetPort && protocol === 'TCP')
    ?.containerPort
}
