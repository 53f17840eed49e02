import { quantityToNumber, type Pod } from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'
import { qosClass } from '../resources/qos.ts'
import { evictionDefaults } from '../limits-table.ts'

export interface Usage {
  memoryAvailableBytes: number
  diskAvailableShare: number
  inodesFreeShare: number
  pidsFreeShare: number
}

export type Pressure = 'memory' | 'disk' | 'pids'

export function pressures(usage: Usage): ReadonlySet<Pressure> {
  const found = new Set<Pressure>()
  const limits = evictionDefaults
  if (usage.memoryAvailableBytes < limits.memoryAvailableBytesMin) found.add('memory')
  if (
    usage.diskAvailableShare < limits.diskAvailableShareMin ||
    usage.inodesFreeShare < limits.inodesFreeShareMin
  ) {
    found.add('disk')
  }
  if (usage.pidsFreeShare < limits.pidsFreeShareMin) found.add('pids')
  return found
}

export interface PodUsage {
  pod: Pod
  memoryBytes: number
  diskBytes: number
}

const systemCriticalPriority = 2_000_000_000

/**
 * Chooses the pod to end first: one that uses more than it requested before one that does not, then the one
 * with lower priority, then the one with the larger excess. Static and system-critical pods are spared.
 * Returns undefined if there is none.
 */
export function chooseVictim(pods: readonly PodUsage[], pressure: Pressure): PodUsage | undefined {
  const candidates = pods.filter(
    ({ pod }) =>
      (specOf(pod).priority ?? 0) < systemCriticalPriority &&
      pod.metadata.annotations?.['kubernetes.io/config.source'] !== 'file',
  )
  return candidates.toSorted((one, other) => compare(one, other, pressure))[0]
}

function compare(one: PodUsage, other: PodUsage, pressure: Pressure): number {
  const excess = (usage: PodUsage): number =>
    pressure === 'disk' ? usage.diskBytes : usage.memoryBytes - memoryRequest(usage.pod)
  const exceeds = (usage: PodUsage): number => (excess(usage) > 0 ? 0 : 1)
  return (
    exceeds(one) - exceeds(other) ||
    (specOf(one.pod).priority ?? 0) - (specOf(other.pod).priority ?? 0) ||
    excess(other) - excess(one) ||
    rank(one.pod) - rank(other.pod)
  )
}

const ranks = { BestEffort: 0, Burstable: 1, Guaranteed: 2 } as const

function rank(pod: Pod): number {
  return ranks[qosClass(pod)]
}

function memoryRequest(pod: Pod): number {
  return specOf(pod).containers.reduce((total, { resources }) => {
    const request = resources?.requests?.['memory']
    return total + (request === undefined ? 0 : quantityToNumber(request))
  }, 0)
}

const scarce: Readonly<Record<Pressure, string>> = Object.freeze({
  memory: 'memory',
  disk: 'ephemeral-storage',
  pids: 'pids',
})

export function evictionMessage(pressure: Pressure): string {
  return `The node was low on resource: ${scarce[pressure]}. `
}
