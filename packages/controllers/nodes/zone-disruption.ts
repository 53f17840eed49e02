import type { Node } from '@skerry/api'
import { evictionDefaults } from '../limits-table.ts'

export type Evictions =
  /**
   * Every zone is silent, so this process is the one that is cut off. Nothing is evicted, and
   * evictions that have begun stop.
   */
  | { readonly areStopped: true }
  /** The rate of each zone, in nodes per second. */
  | { readonly areStopped: false; readonly rates: ReadonlyMap<string, number> }

/** Plans the rate of evictions by how many nodes of each zone are silent. */
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

/** A node that has never reported and is not overdue yet does not count either way. */
function hasReported({ status }: Node): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Ready')
}

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True')
}

/** Paces evictions: one node at a time in each zone, at the zone's rate. */
export class EvictionPace {
  readonly #nextMs = new Map<string, number>()

  /** Returns true at most once per interval of the zone. */
  take(zone: string, { rate, nowMs }: { rate: number; nowMs: number }): boolean {
    if (rate <= 0 || nowMs < (this.#nextMs.get(zone) ?? -Infinity)) return false
    this.#nextMs.set(zone, nowMs + 1_000 / rate)
    return true
  }
}
