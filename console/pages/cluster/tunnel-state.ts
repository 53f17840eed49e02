/** The tunnels of one cluster as the hub sees them. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { askJson } from '../../data/hub/hub-request.ts'
import { timeLimits } from '../../limits-table.ts'

/** One tunnel as /hub/v1/cluster-states reports it; only what is shown. */
export interface OpenTunnel {
  readonly openedAt: string
  readonly lastHeard: string
  readonly rttMs: number | null
  readonly bytesIn: number
  readonly bytesOut: number
  readonly bytesInPerSecond: number
  readonly bytesOutPerSecond: number
  readonly streams: number
  readonly agent: AgentFacts | null
}

/** Facts of the handshake; null for those that the agent did not send. */
export interface AgentFacts {
  readonly host: string | null
  readonly address: string
  readonly version: string | null
  readonly certificateExpires: string | null
}

interface TunnelState {
  readonly tunnel: 'open' | 'closed' | 'none'
  readonly agents: readonly OpenTunnel[]
  readonly lastEnd: { readonly at: string; readonly reason: string } | null
}

export function useTunnelState(cluster: string): UseQueryResult<TunnelState> {
  const path = `/hub/v1/cluster-states/${encodeURIComponent(cluster)}`
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<TunnelState>(path, { signal }),
    refetchInterval: timeLimits.askAgainMs,
  })
}
