import { quantityToMilli, quantityToNumber, type Container, type Pod } from '@skerry/api'
import type { NodeAllocatable } from '../env/container-resource.ts'
import { specOf } from '../pod/pod-spec.ts'

export interface Rejection {
  reason: string
  message: string
}

export interface AdmissionInput {
  pod: Pod
  /** The pods that hold resources of this node. */
  others: readonly Pod[]
  allocatable: NodeAllocatable
  podsMax: number
}

interface Amount {
  name: string
  requested: number
  used: number
  capacity: number
}

/**
 * Returns a rejection if the pod does not fit next to the others, as when it was bound without the scheduler,
 * or by two schedulers at once; undefined if it fits.
 */
export function rejectPod(input: AdmissionInput): Rejection | undefined {
  const { pod, others } = input
  const short = shortAmount(input)
  if (short) {
    const { name, requested, used, capacity } = short
    return {
      reason: `OutOf${name}`,
      message: `Pod was rejected: Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
    }
  }
  if (!hasPortConflict(pod, others)) return undefined
  return {
    reason: 'NodePorts',
    message:
      "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  }
}

function shortAmount(input: AdmissionInput): Amount | undefined {
  const { pod, others, allocatable, podsMax } = input
  const sum = (of: (pod: Pod) => number): number =>
    others.reduce((total, other) => total + of(other), 0)
  const amounts: Amount[] = [
    { name: 'pods', requested: 1, used: others.length, capacity: podsMax },
    {
      name: 'cpu',
      requested: cpuRequestMilli(pod),
      used: sum(cpuRequestMilli),
      capacity: allocatable.cpuMilli,
    },
    {
      name: 'memory',
      requested: memoryRequestBytes(pod),
      used: sum(memoryRequestBytes),
      capacity: allocatable.memoryBytes,
    },
  ]
  return amounts.find(
    ({ requested, used, capacity }) => requested > 0 && used + requested > capacity,
  )
}

/** Returns a rejection if the node cannot give a running pod what its spec now requests; undefined if it can. */
export function refuseResize(input: AdmissionInput): Rejection | undefined {
  const alone = shortAmount({ ...input, others: [] })
  if (alone) {
    const { name, requested, capacity } = alone
    return {
      reason: 'Infeasible',
      message: `Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}`,
    }
  }
  const short = shortAmount(input)
  if (!short) return undefined
  const { name, requested, used, capacity } = short
  return {
    reason: 'Deferred',
    message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  }
}

function cpuRequestMilli(pod: Pod): number {
  return requestOf(pod, ({ resources }) => quantityToMilli(resources?.requests?.['cpu'] ?? '0'))
}

function memoryRequestBytes(pod: Pod): number {
  return requestOf(pod, ({ resources }) => quantityToNumber(resources?.requests?.['memory'] ?? '0'))
}

/** Computes the pod's request: init containers run one by one before the others; sidecars run next to all. */
function requestOf(pod: Pod, amount: (container: Container) => number): number {
  const { containers, initContainers = [] } = specOf(pod)
  let sidecars = 0
  let largestInit = 0
  for (const container of initContainers) {
    if (container.restartPolicy === 'Always') sidecars += amount(container)
    else largestInit = Math.max(largestInit, sidecars + amount(container))
  }
  const together = containers.reduce((total, container) => total + amount(container), sidecars)
  return Math.max(together, largestInit)
}

function hasPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const taken = others.flatMap(hostPorts)
  return hostPorts(pod).some((port) =>
    taken.some(
      (other) =>
        other.port === port.port &&
        other.protocol === port.protocol &&
        (other.ip === port.ip || other.ip === '' || port.ip === ''),
    ),
  )
}

function hostPorts(pod: Pod): { port: number; protocol: string; ip: string }[] {
  const { containers, initContainers = [] } = specOf(pod)
  return [...initContainers, ...containers]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostPort = 0, protocol = 'TCP', hostIP = '' }) => ({
      port: hostPort,
      protocol,
      ip: hostIP === '0.0.0.0' ? '' : hostIP,
    }))
}
