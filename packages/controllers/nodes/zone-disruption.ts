import type { Node } from '@skerry/api'

/** Upstream's figures: nodes per second that their pods are driven away from. */
export const evictionDefaults = Object.freeze({
  nodesPerSecond: 0.1,
  /** In a zone of which many nodes are silent. */
  disruptedNodesPerSecond: 0.01,
  /** A disrupted zone of no more nodes than this drives nothing away. */
  smallZoneNodesMax: 50,
  unhealthyShare: 0.55,
})

export type Evictions =
  /** Every zone is silent: it is us who are cut off. Nothing is driven away, and what was begun stops. */
  | { readonly areStopped: true }
  /** Nodes per second by zone. */
  | { readonly areStopped: false; readonly rates: ReadonlyMap<string, number> }

/** How fast nodes may be emptied, by how many of each zone are silent. */
export function planEvictions(nodes: readonly Node[]): Evictions {
  const zones = Map.groupBy(nodes.filter(hasReported), zoneOf)
  const counts = [...zones].map(([zone, members]) => {
    const ready = members.filter(isReady).length
    return { zone, ready, unready: members.length - ready }
  })
  if (counts.length > 0 && counts.every(({ ready, unready }) => ready === 0 && unready > 0)) {
    return { areStopped: true }
  }
  return { areStopped: false, rates: new Map(counts.map((each) => [each.zone, rateOf(each)])) }
}

function rateOf({ ready, unready }: { ready: number; unready: number }): number {
  const { nodesPerSecond, disruptedNodesPerSecond, smallZoneNodesMax, unhealthyShare } =
    evictionDefaults
  const size = ready + unready
  const isPartly = ready > 0 && unready > 2 && unready / size >= unhealthyShare
  if (!isPartly) return nodesPerSecond
  return size > smallZoneNodesMax ? disruptedNodesPerSecond : 0
}

export function zoneOf({ metadata }: Node): string {
  const region = metadata.labels?.['topology.kubernetes.io/region'] ?? ''
  return `${region}/${metadata.labels?.['topology.kubernetes.io/zone'] ?? ''}`
}

/** What has never said anything, and is not overdue yet, counts neither way. */
function hasReported({ status }: Node): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Ready')
}

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True')
}

/** One node at a time in each zone, as fast as its rate allows. */
export class EvictionPace {
  readonly #nextMs = new Map<string, number>()

  /** True at most once per interval of the zone. */
  take(zone: string, { rate, nowMs }: { rate: number; nowMs: number }): boolean {
    if (rate <= 0 || nowMs < (this.#nextMs.get(zone) ?? -Infinity)) return false
    this.#nextMs.set(zone, nowMs + 1_000 / rate)
    return true
  }
}
