import type { Lease, Node, NodeCondition, Taint } from '@skerry/api'

/** A node's last sign of life and when it was seen, by this process's monotonic clock. */
export interface Heartbeat {
  /** Changes with each sign of life; its content does not matter. */
  sign: string
  seenMs: number
  /** Whether this process has seen the sign come. The first one may be from long before. */
  isFresh: boolean
}

/**
 * Returns the last sign of life: the lease's renewal or the Ready condition's heartbeat. It is
 * compared for change only, never with our clock, because a node's clock may be wrong by a year.
 */
export function heartbeatSign(node: Node, lease: Lease | undefined): string {
  const ready = conditionOf(node, 'Ready')
  return `${lease?.spec?.renewTime ?? ''} ${ready?.lastHeartbeatTime ?? ''}`
}

export function conditionOf(node: Node, type: string): NodeCondition | undefined {
  return (node.status?.conditions ?? []).find((each) => each.type === type)
}

const watchedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Returns the conditions of a node that fell silent, or undefined if they are already set. */
export function silentConditions(node: Node, timestamp: string): NodeCondition[] | undefined {
  const hasReported = conditionOf(node, 'Ready') !== undefined
  const reason = hasReported ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated'
  const message = hasReported
    ? 'Kubelet stopped posting node status.'
    : 'Kubelet never posted node status.'
  const changed = watchedConditions.filter((type) => conditionOf(node, type)?.status !== 'Unknown')
  if (changed.length === 0) return undefined
  const others = (node.status?.conditions ?? []).filter((each) => !changed.includes(each.type))
  const unknown = changed.map((type): NodeCondition => ({
    ...(conditionOf(node, type) ?? { lastHeartbeatTime: node.metadata.creationTimestamp }),
    type,
    status: 'Unknown',
    reason,
    message,
    lastTransitionTime: timestamp,
  }))
  return [...others, ...unknown]
}

const notReadyKey = 'node.kubernetes.io/not-ready'
export const unreachableKey = 'node.kubernetes.io/unreachable'

const pressureTaints: Readonly<Record<string, string>> = Object.freeze({
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
})

const ownKeys = new Set([
  notReadyKey,
  unreachableKey,
  'node.kubernetes.io/unschedulable',
  ...Object.values(pressureTaints),
])

/**
 * Whether pods may be evicted: `kept` continues evictions that have begun but begins none,
 * `stopped` reverses them.
 */
export type NoExecute = 'allowed' | 'kept' | 'stopped'

/** Returns the taints that a node should have by its conditions, or undefined if it has exactly those. */
export function planTaints(
  node: Node,
  timestamp: string,
  noExecute: NoExecute = 'allowed',
): Taint[] | undefined {
  const present = node.spec?.taints ?? []
  const mayEvict = noExecute === 'allowed' || (noExecute === 'kept' && isBeingEmptied(node))
  const wanted = wantedTaints(node).filter(({ effect }) => effect !== 'NoExecute' || mayEvict)
  const kept = present.filter(
    (taint) => !ownKeys.has(taint.key) || wanted.some((each) => isSame(each, taint)),
  )
  const added = wanted.filter((each) => !present.some((taint) => isSame(each, taint)))
  if (added.length === 0 && kept.length === present.length) return undefined
  const stamped = added.map((each) => ({ ...each, timeAdded: timestamp }))
  return [...kept, ...stamped]
}

/** Returns true if the node's pods are being evicted because it does not answer or is not ready. */
export function isBeingEmptied({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(
    ({ key, effect }) => effect === 'NoExecute' && (key === notReadyKey || key === unreachableKey),
  )
}

function wantedTaints(node: Node): Taint[] {
  const taints: Taint[] = []
  const ready = conditionOf(node, 'Ready')?.status
  // A node that has never reported is judged only after its startup grace period.
  if (ready !== undefined && ready !== 'True') {
    const key = ready === 'False' ? notReadyKey : unreachableKey
    taints.push({ key, effect: 'NoSchedule' }, { key, effect: 'NoExecute' })
  }
  if (node.spec?.unschedulable === true) {
    taints.push({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' })
  }
  for (const [type, key] of Object.entries(pressureTaints)) {
    if (conditionOf(node, type)?.status === 'True') taints.push({ key, effect: 'NoSchedule' })
  }
  return taints
}

function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect
}
