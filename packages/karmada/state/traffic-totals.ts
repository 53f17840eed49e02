import type { TunnelSession } from '@skerry/tunnel'

export interface TrafficTotal {
  readonly cluster: string
  readonly bytesIn: number
  readonly bytesOut: number
}

/** What the ones without a place of their own are counted under; no cluster has an empty name. */
export const otherClusters = ''

/** So that a scrape stays small: 20,000 clusters would be 40,000 lines. */
export const trafficClustersMax = 2_000

interface Entry {
  bytesIn: number
  bytesOut: number
  readonly open: Set<TunnelSession>
}

/**
 * Bytes by cluster over all its tunnels, also those that have ended: sums that never shrink. The first
 * `clustersMax` clusters have a place of their own; when another one comes, it takes that of one that is
 * not connected, whose bytes go to the rest; where all are connected, the new one's do.
 */
export class TrafficTotals {
  readonly #clustersMax: number
  readonly #entries = new Map<string, Entry>()
  readonly #rest: Entry = { bytesIn: 0, bytesOut: 0, open: new Set() }

  constructor(clustersMax = trafficClustersMax) {
    this.#clustersMax = clustersMax
  }

  /** From now on, until it has ended. */
  add(cluster: string, session: TunnelSession): void {
    const entry = this.#entryFor(cluster)
    entry.open.add(session)
    void session.closed.then(() => {
      entry.open.delete(session)
      entry.bytesIn += session.bytesIn
      entry.bytesOut += session.bytesOut
    })
  }

  *all(): Iterable<TrafficTotal> {
    for (const [cluster, entry] of this.#entries) yield { cluster, ...sumOf(entry) }
    yield { cluster: otherClusters, ...sumOf(this.#rest) }
  }

  /** The open tunnels of the clusters that have a place. */
  *sessions(): Iterable<readonly [cluster: string, session: TunnelSession]> {
    for (const [cluster, { open }] of this.#entries) {
      const newest = [...open].at(-1)
      if (newest) yield [cluster, newest]
    }
  }

  #entryFor(cluster: string): Entry {
    const known = this.#entries.get(cluster)
    if (known) return known
    if (this.#entries.size >= this.#clustersMax && !this.#makeRoom()) return this.#rest
    const entry: Entry = { bytesIn: 0, bytesOut: 0, open: new Set() }
    this.#entries.set(cluster, entry)
    return entry
  }

  #makeRoom(): boolean {
    for (const [cluster, entry] of this.#entries) {
      if (entry.open.size > 0) continue
      this.#entries.delete(cluster)
      this.#rest.bytesIn += entry.bytesIn
      this.#rest.bytesOut += entry.bytesOut
      return true
    }
    return false
  }
}

function sumOf({ bytesIn, bytesOut, open }: Entry): { bytesIn: number; bytesOut: number } {
  const sum = { bytesIn, bytesOut }
  for (const session of open) {
    sum.bytesIn += session.bytesIn
    sum.bytesOut += session.bytesOut
  }
  return sum
}
