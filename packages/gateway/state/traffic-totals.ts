import { trafficClasses, type TrafficClass, type TunnelSession } from '@skerry/tunnel'
import { gatewayBounds } from '../limits-table.ts'

export interface TrafficTotal {
  readonly cluster: string
  readonly bytesIn: number
  readonly bytesOut: number
  /** The bytes of frames by class, which are part of these totals. */
  readonly classes: Readonly<Record<TrafficClass, { readonly in: number; readonly out: number }>>
}

/** The name under which clusters without an entry of their own are counted; no cluster has an empty name. */
const otherClusters = ''

const trafficClustersMax = gatewayBounds.trafficTotals.trafficClustersMax

interface Entry {
  /** The totals of the tunnels that have ended. */
  sums: Sums
  readonly open: Set<TunnelSession>
}

/**
 * Sums bytes by cluster over all its tunnels, including those that have ended; the sums never shrink. The
 * first `clustersMax` clusters have an entry each. A further cluster replaces one that is not connected,
 * whose bytes move to the rest; if all are connected, the new cluster counts as part of the rest.
 */
export class TrafficTotals {
  readonly #clustersMax: number
  readonly #entries = new Map<string, Entry>()
  readonly #rest: Entry = { sums: noSums, open: new Set() }

  constructor(clustersMax: number = trafficClustersMax) {
    this.#clustersMax = clustersMax
  }

  /** Counts this tunnel from now on, until it has ended. */
  add(cluster: string, session: TunnelSession): void {
    const entry = this.#entryFor(cluster)
    entry.open.add(session)
    void session.closed.then(() => {
      entry.open.delete(session)
      entry.sums = added(entry.sums, sumsOf(session))
    })
  }

  *all(): Iterable<TrafficTotal> {
    for (const [cluster, entry] of this.#entries) yield toTotal(cluster, entry)
    yield toTotal(otherClusters, this.#rest)
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
    const entry: Entry = { sums: noSums, open: new Set() }
    this.#entries.set(cluster, entry)
    return entry
  }

  #makeRoom(): boolean {
    for (const [cluster, entry] of this.#entries) {
      if (entry.open.size > 0) continue
      this.#entries.delete(cluster)
      this.#rest.sums = added(this.#rest.sums, entry.sums)
      return true
    }
    return false
  }
}

/** In and out in total, then in and out of each class. */
type Sums = readonly number[]

const noSums: Sums = [0, 0, ...trafficClasses.flatMap(() => [0, 0])]

function sumsOf({ bytesIn, bytesOut, traffic }: TunnelSession): Sums {
  const { sent, received } = traffic
  return [bytesIn, bytesOut, ...trafficClasses.flatMap((name) => [received[name], sent[name]])]
}

function added(one: Sums, other: Sums): Sums {
  return one.map((sum, at) => sum + (other[at] ?? 0))
}

function toTotal(cluster: string, { sums, open }: Entry): TrafficTotal {
  const all = [...open].reduce((sum, session) => added(sum, sumsOf(session)), sums)
  const pair = (at: number) => ({ in: all[at] ?? 0, out: all[at + 1] ?? 0 })
  const { in: bytesIn, out: bytesOut } = pair(0)
  const classes = { control: pair(2), interactive: pair(4), logs: pair(6), bulk: pair(8) }
  return { cluster, bytesIn, bytesOut, classes }
}
