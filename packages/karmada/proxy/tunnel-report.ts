import { trafficReport, type TrafficReport } from '../traffic/traffic-report.ts'
import type { TunnelRegistry, TunnelSession } from '@skerry/tunnel'

/** One open tunnel of a cluster, as the hub sees it now. */
export interface TunnelReport {
  readonly rttMs: number | null
  readonly bytesIn: number
  readonly bytesOut: number
  readonly streams: number
  readonly bufferedBytes: number
  /** Its rates, and its bytes by class; absent from a replica of an older version. */
  readonly traffic?: TrafficReport
}

/** GET /tunnel/v1/clusters/<name>. */
export interface TunnelsReport {
  readonly cluster: string
  readonly isConnected: boolean
  readonly tunnels: readonly TunnelReport[]
  /** How the last one ended; null while one is open or when none ever was. */
  readonly lastEnd: { readonly reason: string; readonly at: string } | null
}

/** Of the tunnels that end in this process. */
export function describeTunnels(
  registry: Pick<TunnelRegistry, 'sessions' | 'lastEnd'>,
  cluster: string,
): TunnelsReport {
  const open = registry.sessions(cluster).filter(({ isOpen }) => isOpen)
  const end = registry.lastEnd(cluster)
  return {
    cluster,
    isConnected: open.length > 0,
    tunnels: open.map(toReport),
    lastEnd: end ? { reason: end.reason, at: new Date(end.atMs).toISOString() } : null,
  }
}

function toReport(session: TunnelSession): TunnelReport {
  const { rttMs, bytesIn, bytesOut, streams, bufferedBytes } = session
  const traffic = trafficReport(session)
  return { rttMs: rttMs ?? null, bytesIn, bytesOut, streams, bufferedBytes, traffic }
}
