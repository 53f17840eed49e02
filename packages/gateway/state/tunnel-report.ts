import type { Clock } from '@skerry/base'
import type { TunnelEnd, TunnelRegistry, TunnelSession } from '@skerry/tunnel'
import { trafficReport, type TrafficReport } from '../traffic/traffic-report.ts'
import type { AgentFacts } from './agent-facts.ts'

/** One open tunnel of a cluster, as the hub sees it now. */
export interface TunnelReport {
  /** The smoothed round-trip time of pings; null before the first answer. */
  readonly rttMs: number | null
  /** Bytes from the cluster, since the tunnel was opened. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** The rate over about the last ten seconds. */
  readonly bytesInPerSecond: number
  readonly bytesOutPerSecond: number
  readonly streams: number
  /** Bytes received from the cluster and not read yet. */
  readonly bufferedBytes: number
  /** Bytes waiting to be sent to the cluster. */
  readonly queuedBytes: number
  /** RFC 3339. */
  readonly openedAt: string
  readonly lastHeard: string
  /** Null if the facts were not recorded. */
  readonly agent: AgentFacts | null
  /** Its rates, and its bytes by class; omitted by a replica of an older version. */
  readonly traffic?: TrafficReport
}

/** The answer to GET /tunnel/v1/clusters/<name>. */
export interface TunnelsReport {
  readonly cluster: string
  readonly isConnected: boolean
  /** The open tunnels. That of the newest agent, which answers, comes first. */
  readonly tunnels: readonly TunnelReport[]
  /** How the connection last ended, even if it is back; null if the hub knows of no end. */
  readonly lastEnd: { readonly reason: string; readonly at: string } | null
}

export interface TunnelReportDeps {
  readonly registry: Pick<TunnelRegistry, 'sessions' | 'lastEnd'>
  readonly agentOf: (session: TunnelSession) => AgentFacts | undefined
  readonly clock: Pick<Clock, 'now'>
}

/** Describes the tunnels that end in this process. */
export function describeTunnels(deps: TunnelReportDeps, cluster: string): TunnelsReport {
  const sessions = deps.registry.sessions(cluster)
  const open = sessions.filter(({ isOpen }) => isOpen)
  const lost = open.length === 0 ? lostEnd(sessions[0], deps.clock) : undefined
  return {
    cluster,
    isConnected: open.length > 0,
    tunnels: open.map((session) => toReport(session, deps)),
    lastEnd: endReport(lost ?? deps.registry.lastEnd(cluster)),
  }
}

/** Returns the end of a tunnel that exists but is useless: it is closing, or its agent no longer answers. */
function lostEnd(
  session: TunnelSession | undefined,
  clock: TunnelReportDeps['clock'],
): TunnelEnd | undefined {
  const { endReason: reason, silentMs = 0 } = session ?? {}
  return reason === undefined ? undefined : { reason, atMs: clock.now() - silentMs }
}

export function endReport(end: TunnelEnd | undefined): TunnelsReport['lastEnd'] {
  return end ? { reason: end.reason, at: new Date(end.atMs).toISOString() } : null
}

function toReport(session: TunnelSession, { agentOf, clock }: TunnelReportDeps): TunnelReport {
  const { rttMs, bytesIn, bytesOut, byteRates, streams, bufferedBytes, queuedBytes } = session
  return {
    // Networks are not steady to a tenth of a millisecond.
    rttMs: rttMs === undefined ? null : Math.round(rttMs * 10) / 10,
    bytesIn,
    bytesOut,
    bytesInPerSecond: byteRates.inPerSecond,
    bytesOutPerSecond: byteRates.outPerSecond,
    streams,
    bufferedBytes,
    queuedBytes,
    openedAt: new Date(session.openedAtMs).toISOString(),
    lastHeard: new Date(clock.now() - session.silentMs).toISOString(),
    agent: agentOf(session) ?? null,
    traffic: trafficReport(session),
  }
}
