import type { Lease } from '@skerry/api'
import { conditionTypes, type Cluster, conditionOf } from '@skerry/fleet-kinds'
import type { TunnelReport, TunnelsReport } from './tunnel-report.ts'

/** The state of one cluster, for people: its object's status, and its tunnels at this moment. */
export interface ClusterState {
  readonly name: string
  /** The cluster whose tunnel leads to it, if it is a virtual cluster. */
  readonly through?: string
  /** The value `none` means push mode, in which the hub dials the cluster itself. */
  readonly tunnel: 'open' | 'closed' | 'none'
  /** The time since which that is so (RFC 3339); null if it was never connected. */
  readonly since: string | null
  /** The time at which its agent was last heard, over the tunnel or by its lease; null for never. */
  readonly lastSeen: string | null
  /** The readiness of the cluster's own API server, as the agent reports it; Unknown once it reports no more. */
  readonly ready: 'True' | 'False' | 'Unknown'
  readonly kubernetesVersion: string
  readonly nodes: { readonly ready: number; readonly total: number }
  /** The round-trip time of the newest tunnel, which answers; null if there is none. */
  readonly rttMs: number | null
  /** The sums over all open tunnels, each since it was opened; "in" is from the cluster. */
  readonly bytesIn: number
  readonly bytesOut: number
  readonly bytesInPerSecond: number
  readonly bytesOutPerSecond: number
  readonly streams: number
  /** The newest first. */
  readonly agents: readonly TunnelReport[]
  readonly lastEnd: TunnelsReport['lastEnd']
}

/** The answer to GET /hub/v1/cluster-states. */
export interface ClusterStates {
  readonly clusters: readonly ClusterState[]
}

interface Known {
  readonly cluster: Cluster
  readonly lease: Lease | undefined
  readonly report: TunnelsReport
}

/**
 * Combines object and tunnels. Pure. The open tunnels decide, because the object lags by a moment, and by
 * more after a restart.
 */
export function clusterState({ cluster, lease, report }: Known): ClusterState {
  const { metadata, spec, status } = cluster
  const { tunnels, isConnected, lastEnd } = report
  const { readyNum = 0, totalNum = 0 } = status?.nodeSummary ?? {}
  const sum = (of: (tunnel: TunnelReport) => number): number =>
    tunnels.reduce((total, tunnel) => total + of(tunnel), 0)
  return {
    name: metadata.name ?? '',
    tunnel: isConnected ? 'open' : spec.syncMode === 'Push' ? 'none' : 'closed',
    since: sinceOf(cluster, report),
    lastSeen: newest([lease?.spec?.renewTime, ...tunnels.map(({ lastHeard }) => lastHeard)]),
    ready: conditionOf(status?.conditions, conditionTypes.ready)?.status ?? 'Unknown',
    kubernetesVersion: status?.kubernetesVersion ?? '',
    nodes: { ready: readyNum, total: totalNum },
    rttMs: tunnels[0]?.rttMs ?? null,
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    bytesInPerSecond: sum(({ bytesInPerSecond }) => bytesInPerSecond),
    bytesOutPerSecond: sum(({ bytesOutPerSecond }) => bytesOutPerSecond),
    streams: sum(({ streams }) => streams),
    agents: tunnels,
    lastEnd,
  }
}

function sinceOf({ status }: Cluster, { isConnected, tunnels, lastEnd }: TunnelsReport) {
  const known = conditionOf(status?.conditions, conditionTypes.connected)
  // The condition's time survives a restart of the hub, and outlasts single agents coming and going.
  if (known?.status === (isConnected ? 'True' : 'False')) {
    return known.reason === 'NeverConnected' ? null : known.lastTransitionTime
  }
  if (!isConnected) return lastEnd?.at ?? null
  return tunnels.map(({ openedAt }) => openedAt).toSorted()[0] ?? null
}

function newest(times: readonly (string | undefined)[]): string | null {
  const known = times.filter((time) => time !== undefined)
  return known.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null
}
