import {
  quantityToMilli,
  quantityToNumber,
  type Container,
  type ContainerPort,
  type Pod,
} from '@skerry/api'

/** Amounts by resource name: cpu in millicores, everything else in its own unit (bytes, counts). */
export type Resources = ReadonlyMap<string, number>

/** A pod with what the scheduler computes of it once. */
export interface PodInfo {
  readonly pod: Pod
  readonly key: string
  readonly uid: string
  readonly namespace: string
  readonly requests: Resources
  /** Requests with upstream's small defaults for what asks nothing; only for scoring. */
  readonly scoredRequests: Resources
  readonly hostPorts: readonly HostPort[]
  readonly hasAffinity: boolean
}

export interface HostPort {
  ip: string
  protocol: string
  port: number
}

/** What a container that asks nothing counts as in scores: upstream's 100m and 200 MB. */
const scoredCpuDefault = 100
const scoredMemoryDefault = 200 * 1024 * 1024

export function podInfoOf(pod: Pod): PodInfo {
  const affinity = pod.spec?.affinity
  return {
    pod,
    key: `${pod.metadata.namespace}/${pod.metadata.name}`,
    uid: pod.metadata.uid ?? '',
    namespace: pod.metadata.namespace ?? '',
    requests: requestsOf(pod, new Map()),
    scoredRequests: requestsOf(
      pod,
      new Map([
        ['cpu', scoredCpuDefault],
        ['memory', scoredMemoryDefault],
      ]),
    ),
    hostPorts: hostPortsOf(pod),
    hasAffinity: affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined,
  }
}

/**
 * What the pod occupies: app containers and sidecars together, or an init container with the
 * sidecars started before it where that is more (KEP-753), and the overhead on top.
 */
function requestsOf(pod: Pod, defaults: Resources): Map<string, number> {
  const spec = pod.spec
  if (spec === undefined) return new Map()
  const total = new Map<string, number>()
  for (const container of spec.containers) add(total, containerRequests(container, defaults))
  const sidecars = new Map<string, number>()
  const initPeak = new Map<string, number>()
  for (const container of spec.initContainers ?? []) {
    const own = containerRequests(container, defaults)
    if (container.restartPolicy === 'Always') {
      add(total, own)
      add(sidecars, own)
      raise(initPeak, sidecars)
    } else {
      const together = new Map(sidecars)
      add(together, own)
      raise(initPeak, together)
    }
  }
  raise(total, initPeak)
  for (const [name, amount] of Object.entries(spec.resources?.requests ?? {})) {
    total.set(name, amountOf(name, amount))
  }
  add(total, amountsOf(spec.overhead ?? {}))
  return total
}

function containerRequests(container: Container, defaults: Resources): Map<string, number> {
  const amounts = amountsOf(container.resources?.requests ?? {})
  for (const [name, amount] of defaults) {
    if (!amounts.has(name)) amounts.set(name, amount)
  }
  return amounts
}

export function amountsOf(list: Readonly<Record<string, string | number>>): Map<string, number> {
  return new Map(Object.entries(list).map(([name, amount]) => [name, amountOf(name, amount)]))
}

function amountOf(name: string, amount: string | number): number {
  const text = String(amount)
  return name === 'cpu' ? quantityToMilli(text) : quantityToNumber(text)
}

export function add(target: Map<string, number>, amounts: Resources): void {
  for (const [name, amount] of amounts) target.set(name, (target.get(name) ?? 0) + amount)
}

export function subtract(target: Map<string, number>, amounts: Resources): void {
  for (const [name, amount] of amounts) target.set(name, (target.get(name) ?? 0) - amount)
}

function raise(target: Map<string, number>, amounts: Resources): void {
  for (const [name, amount] of amounts) target.set(name, Math.max(target.get(name) ?? 0, amount))
}

function hostPortsOf(pod: Pod): HostPort[] {
  const sidecars = (pod.spec?.initContainers ?? []).filter(
    (each) => each.restartPolicy === 'Always',
  )
  return [...(pod.spec?.containers ?? []), ...sidecars].flatMap((container) =>
    (container.ports ?? []).flatMap((port: ContainerPort) =>
      port.hostPort === undefined || port.hostPort === 0
        ? []
        : [{ ip: port.hostIP ?? '0.0.0.0', protocol: port.protocol ?? 'TCP', port: port.hostPort }],
    ),
  )
}
