import {
  quantityToMilli,
  quantityToNumber,
  type Container,
  type ContainerPort,
  type ContainerStatus,
  type Pod,
} from '@skerry/api'

/** Amounts by resource name: cpu in millicores, all others in their own unit (bytes, counts). */
export type Resources = ReadonlyMap<string, number>

/** A pod with the values that the scheduler computes for it once. */
export interface PodInfo {
  readonly pod: Pod
  readonly key: string
  readonly uid: string
  readonly namespace: string
  readonly priority: number
  readonly requests: Resources
  /** The requests, with upstream's small defaults for containers without any; only for scoring. */
  readonly scoredRequests: Resources
  readonly hostPorts: readonly HostPort[]
  readonly hasAffinity: boolean
}

export interface HostPort {
  ip: string
  protocol: string
  port: number
}

/** The amounts that a container without requests counts as in scores: upstream's 100m and 200 MB. */
const scoredCpuDefault = 100
const scoredMemoryDefault = 200 * 1024 * 1024

export function podInfoOf(pod: Pod): PodInfo {
  const affinity = pod.spec?.affinity
  return {
    pod,
    key: `${pod.metadata.namespace}/${pod.metadata.name}`,
    uid: pod.metadata.uid ?? '',
    namespace: pod.metadata.namespace ?? '',
    priority: pod.spec?.priority ?? 0,
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
 * Returns what the pod occupies: app containers and sidecars together, or, if larger, an init
 * container with the sidecars started before it (KEP-753), plus the overhead. Amounts for the whole
 * pod replace those of its containers.
 */
function requestsOf(pod: Pod, defaults: Resources): Map<string, number> {
  const spec = pod.spec
  if (spec === undefined) return new Map()
  const statuses = new Map(
    [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].map(
      (each) => [each.name, each],
    ),
  )
  const occupied = (container: Container): Map<string, number> =>
    withDefaults(containerRequests(pod, container, statuses.get(container.name)), defaults)
  const total = new Map<string, number>()
  for (const container of spec.containers) add(total, occupied(container))
  const sidecars = new Map<string, number>()
  const initPeak = new Map<string, number>()
  for (const container of spec.initContainers ?? []) {
    const own = occupied(container)
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

/**
 * While a container is resized in place it may use its old or its new amount, so the larger counts.
 * A resize that its node can never grant does not count (KEP-1287).
 */
function containerRequests(
  pod: Pod,
  container: Container,
  status: ContainerStatus | undefined,
): Map<string, number> {
  const wanted = amountsOf(container.resources?.requests ?? {})
  const held = [status?.resources?.requests, status?.allocatedResources].filter(
    (each) => each !== undefined,
  )
  if (held.length === 0) return wanted
  const amounts = isResizeInfeasible(pod) ? new Map<string, number>() : wanted
  for (const each of held) raise(amounts, amountsOf(each))
  return amounts
}

function isResizeInfeasible(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  )
}

function withDefaults(amounts: Map<string, number>, defaults: Resources): Map<string, number> {
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
