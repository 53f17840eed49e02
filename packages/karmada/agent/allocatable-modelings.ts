import {
  compareQuantities,
  parseQuantity,
  subtractQuantities,
  type Node,
  type Pod,
  type Quantity,
} from '@skerry/api'
import type { ResourceModel } from '../cluster/cluster.ts'
import { podRequests } from './cluster-facts.ts'

/** How many nodes have what each grade begins with still free; a node counts in the highest one. */
export function allocatableModelings(
  models: readonly ResourceModel[],
  nodes: readonly Node[],
  pods: readonly Pod[],
): { grade: number; count: number }[] {
  const requested = requestsByNode(pods)
  const counts = models.map(() => 0)
  for (const node of nodes) {
    const free = freeOn(node, requested.get(node.metadata.name ?? ''))
    const at = free === undefined ? -1 : gradeIndex(models, free)
    if (counts[at] !== undefined) counts[at] += 1
  }
  return models.map(({ grade }, index) => ({ grade, count: counts[index] ?? 0 }))
}

interface Requested {
  pods: number
  readonly totals: Map<string, Quantity[]>
}

function requestsByNode(pods: readonly Pod[]): ReadonlyMap<string, Requested> {
  const byNode = new Map<string, Requested>()
  for (const pod of pods) {
    const { nodeName } = pod.spec ?? {}
    const { phase } = pod.status ?? {}
    if (!nodeName || phase === 'Succeeded' || phase === 'Failed') continue
    const known = byNode.get(nodeName) ?? { pods: 0, totals: new Map<string, Quantity[]>() }
    known.pods += 1
    for (const [name, quantity] of podRequests(pod)) {
      known.totals.set(name, [...(known.totals.get(name) ?? []), quantity])
    }
    byNode.set(nodeName, known)
  }
  return byNode
}

/** Undefined of a node that takes no more pods. */
function freeOn(
  { status }: Node,
  requested: Requested | undefined,
): ReadonlyMap<string, Quantity> | undefined {
  const allocatable = Object.entries(status?.allocatable ?? {})
  const free = new Map(allocatable.map(([name, text]) => [name, parseQuantity(text)]))
  if (requested === undefined) return free
  const podsMax = free.get('pods') ?? parseQuantity('0')
  if (compareQuantities(podsMax, parseQuantity(String(requested.pods))) <= 0) return undefined
  for (const [name, quantities] of requested.totals) {
    const had = free.get(name)
    if (had) free.set(name, quantities.reduce(subtractQuantities, had))
  }
  return free
}

function gradeIndex(models: readonly ResourceModel[], free: ReadonlyMap<string, Quantity>): number {
  const zero = parseQuantity('0')
  return models.findLastIndex(({ ranges }) =>
    ranges.every(
      ({ name, min }) => compareQuantities(free.get(name) ?? zero, parseQuantity(min)) >= 0,
    ),
  )
}
