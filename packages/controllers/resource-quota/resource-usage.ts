import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
  type Container,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  type Quantity,
  type Service,
} from '@skerry/api'

/** Amounts by the name that a quota's hard limits use. */
export type Usage = ReadonlyMap<string, Quantity>

const none: Usage = new Map()

export function addUsage(first: Usage, second: Usage): Usage {
  const sum = new Map(first)
  for (const [name, amount] of second) {
    const known = sum.get(name)
    sum.set(name, known ? addQuantities(known, amount) : amount)
  }
  return sum
}

export function totalUsage(usages: Iterable<Usage>): Usage {
  let sum = none
  for (const usage of usages) sum = addUsage(sum, usage)
  return sum
}

/** Only the names that the quota limits, as its status shows them. */
export function usedOf(
  usage: Usage,
  hard: Readonly<Record<string, string>>,
): Record<string, string> {
  const used: Record<string, string> = {}
  for (const name of Object.keys(hard))
    used[name] = formatQuantity(usage.get(name) ?? quantityOf(0))
  return used
}

/** A pod that has ended uses nothing but its place among the objects. */
export function podUsage(pod: Pod): Usage {
  const counted = new Map([['count/pods', quantityOf(1)]])
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return counted
  counted.set('pods', quantityOf(1))
  const requests = effective(pod.spec, (container) => container.resources?.requests)
  const limits = effective(pod.spec, (container) => container.resources?.limits)
  for (const [name, amount] of requests) {
    counted.set(`requests.${name}`, amount)
    if (isPlainName(name)) counted.set(name, amount)
  }
  for (const [name, amount] of limits) counted.set(`limits.${name}`, amount)
  return counted
}

/** Names that also stand for their requests. */
function isPlainName(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-')
}

type Amounts = Readonly<Record<string, string>> | undefined

/**
 * What the scheduler counts too: containers run together, init containers one after the other
 * beside the sidecars that were started before them, and the overhead comes on top.
 */
function effective(
  spec: PodSpec | undefined,
  of: (container: Container) => Amounts,
): Map<string, Quantity> {
  let sidecars = none
  let peak = none
  for (const container of spec?.initContainers ?? []) {
    const amounts = toUsage(of(container))
    if (container.restartPolicy === 'Always') sidecars = addUsage(sidecars, amounts)
    else peak = maxUsage(peak, addUsage(sidecars, amounts))
  }
  const running = (spec?.containers ?? []).map((container) => toUsage(of(container)))
  const together = maxUsage(peak, totalUsage([sidecars, ...running]))
  const overhead = together.size > 0 ? toUsage(spec?.overhead) : none
  return new Map(addUsage(together, overhead))
}

function maxUsage(first: Usage, second: Usage): Usage {
  const result = new Map(first)
  for (const [name, amount] of second) {
    const known = result.get(name)
    if (!known || compareQuantities(known, amount) < 0) result.set(name, amount)
  }
  return result
}

function toUsage(amounts: Amounts): Usage {
  return new Map(Object.entries(amounts ?? {}).map(([name, text]) => [name, parseQuantity(text)]))
}

export function serviceUsage(service: Service): Usage {
  const { type, ports = [], allocateLoadBalancerNodePorts } = service.spec ?? {}
  const usage = new Map([
    ['count/services', quantityOf(1)],
    ['services', quantityOf(1)],
  ])
  const usesNodePorts =
    type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)
  if (usesNodePorts) usage.set('services.nodeports', quantityOf(ports.length))
  if (type === 'LoadBalancer') usage.set('services.loadbalancers', quantityOf(1))
  return usage
}

export function claimUsage(claim: PersistentVolumeClaim): Usage {
  const storage = parseQuantity(claim.spec?.resources?.requests?.['storage'] ?? '0')
  const usage = new Map([
    ['count/persistentvolumeclaims', quantityOf(1)],
    ['persistentvolumeclaims', quantityOf(1)],
    ['requests.storage', storage],
  ])
  const { storageClassName } = claim.spec ?? {}
  if (storageClassName) {
    const prefix = `${storageClassName}.storageclass.storage.k8s.io`
    usage.set(`${prefix}/persistentvolumeclaims`, quantityOf(1))
    usage.set(`${prefix}/requests.storage`, storage)
  }
  return usage
}
