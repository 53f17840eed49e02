import { parseQuantity, type Node, type Pod } from '@skerry/api'
import type { ResourceModel } from '@skerry/fleet-kinds'
import { podRequests } from './cluster-facts.ts'

/** Amounts by resource, in billionths. */
type Amounts = ReadonlyMap<string, bigint>

/** Counts the nodes by grade: each in the highest grade whose minimum it has free. */
export function allocatableModelings(
  models: readonly ResourceModel[],
  nodes: readonly Node[],
  pods: readonly Pod[],
): { grade: number; count: number }[] {
  const requested = requestsByNode(pods)
  const floors = models.map(({ ranges }) =>
    ranges.map(({ name, min }) => ({ name, nanos: parseQuantity(min).nanos })),
  )
  const offerOf = createOffers()
  const counts = models.map(() => 0)
  for (const { metadata, status } of nodes) {
    const free = freeOn(offerOf(status?.allocatable ?? {}), requested.get(metadata.name ?? ''))
    const at = free
      ? floors.findLastIndex((all) => all.every((min) => free(min.name) >= min.nanos))
      : -1
    if (counts[at] !== undefined) counts[at] += 1
  }
  return models.map(({ grade }, index) => ({ grade, count: counts[index] ?? 0 }))
}

interface Requested {
  pods: number
  readonly totals: Map<string, bigint>
}

function requestsByNode(pods: readonly Pod[]): ReadonlyMap<string, Requested> {
  const byNode = new Map<string, Requested>()
  for (const pod of pods) {
    const { nodeName } = pod.spec ?? {}
    const { phase } = pod.status ?? {}
    if (!nodeName || phase === 'Succeeded' || phase === 'Failed') continue
    const known = byNode.get(nodeName) ?? { pods: 0, totals: new Map<string, bigint>() }
    known.pods += 1
    for (const [name, { nanos }] of podRequests(pod)) {
      known.totals.set(name, (known.totals.get(name) ?? 0n) + nanos)
    }
    byNode.set(nodeName, known)
  }
  return byNode
}

/** Parses the offers of nodes once: slim-objects.ts shares equal ones. */
function createOffers(): (allocatable: Readonly<Record<string, string>>) => Amounts {
  const known = new Map<object, Amounts>()
  return (allocatable) => {
    const found = known.get(allocatable)
    if (found !== undefined) return found
    const texts = Object.entries(allocatable)
    const offer = new Map(texts.map(([name, text]) => [name, parseQuantity(text).nanos]))
    known.set(allocatable, offer)
    return offer
  }
}

/** Returns the free amount of each resource; undefined if the node takes no more pods. */
function freeOn(
  offer: Amounts,
  requested: Requested | undefined,
): ((name: string) => bigint) | undefined {
  if (requested === undefined) return (name) => offer.get(name) ?? 0n
  const podsMax = offer.get('pods') ?? 0n
  if (podsMax <= parseQuantity(String(requested.pods)).nanos) return undefined
  return (name) => {
    const had = offer.get(name)
    return had === undefined ? 0n : had - (requested.totals.get(name) ?? 0n)
  }
}
