import type { Clock } from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'
import { Ring, type RingPoint } from './ring.ts'

/** The tunnels of a cluster at this moment. */
export interface TunnelSample {
  readonly isConnected: boolean
  /** The round-trip time of the tunnel that answers, if it ends here. */
  readonly rttMs: number | undefined
  /** Bytes a second from the cluster and to it, over the tunnels that end here. */
  readonly upPerSecond: number
  readonly downPerSecond: number
}

/** The answer to GET of a cluster's history. The last entry of each list is of `until`, the one before of `step` earlier. */
export interface HistoryAnswer {
  /** Seconds. */
  readonly step: number
  /** Milliseconds since the Unix epoch. */
  readonly until: number
  /** Milliseconds; null without a tunnel that ends here, or if it is not known. */
  readonly rtt: readonly (number | null)[]
  /** 1 if it was connected, to whichever replica; 0 if not; null if it is not known. */
  readonly state: readonly (number | null)[]
  /** Bytes a second from the cluster. */
  readonly up: readonly (number | null)[]
  readonly down: readonly (number | null)[]
}

export interface KnownCluster {
  readonly name: string
  readonly uid: string
}

export interface TunnelHistoryDeps {
  readonly clusters: () => readonly KnownCluster[]
  readonly sample: (cluster: string) => TunnelSample
  readonly clock: Pick<Clock, 'now' | 'monotonicMs' | 'sleep'>
}

const { stepMs, clustersMax, clustersPerTurn } = consoleBounds.tunnelHistory

/** Remembers the last hour of each cluster's tunnels, as this replica saw it since its start. */
export class TunnelHistory {
  readonly #deps: TunnelHistoryDeps
  readonly #rings = new Map<string, { readonly uid: string; readonly ring: Ring }>()

  constructor(deps: TunnelHistoryDeps) {
    this.#deps = deps
  }

  /** Describes the last hour up to now. */
  of(cluster: KnownCluster): HistoryAnswer {
    const points = this.#note(cluster)?.last(this.#step()) ?? []
    const round = (value: number): number | null =>
      Number.isNaN(value) ? null : Math.round(value * 10) / 10
    return {
      step: stepMs / 1_000,
      until: this.#deps.clock.now(),
      rtt: points.map(({ rttMs }) => round(rttMs)),
      state: points.map(({ state }) => round(state)),
      up: points.map(({ up }) => round(up)),
      down: points.map(({ down }) => round(down)),
    }
  }

  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#noteAll()
      await this.#deps.clock.sleep(stepMs, signal)
    }
  }

  async #noteAll(): Promise<void> {
    const names = new Set<string>()
    for (const cluster of this.#deps.clusters()) {
      names.add(cluster.name)
      this.#note(cluster)
      if (names.size % clustersPerTurn === 0) await nextTurn()
    }
    for (const name of this.#rings.keys()) if (!names.has(name)) this.#rings.delete(name)
  }

  /** Returns undefined for a cluster that has never been connected, or if too many others have a history. */
  #note({ name, uid }: KnownCluster): Ring | undefined {
    const sample = this.#deps.sample(name)
    const known = this.#rings.get(name)
    const isSame = known?.uid === uid
    if (!isSame && known) this.#rings.delete(name)
    if (!isSame && (!sample.isConnected || this.#rings.size >= clustersMax)) return undefined
    const ring = isSame ? known.ring : new Ring()
    if (!isSame) this.#rings.set(name, { uid, ring })
    ring.put(this.#step(), pointOf(sample))
    return ring
  }

  #step(): number {
    return Math.floor(this.#deps.clock.monotonicMs() / stepMs)
  }
}

function pointOf({ isConnected, rttMs, upPerSecond, downPerSecond }: TunnelSample): RingPoint {
  return {
    state: isConnected ? 1 : 0,
    rttMs: rttMs ?? Number.NaN,
    up: upPerSecond,
    down: downPerSecond,
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
