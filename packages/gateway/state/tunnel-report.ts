import type { Clock } from '@skerry/base'
import type { TunnelEnd, TunnelRegistry, TunnelSession } from '@skerry/tunnel'
import { trafficReport, type TrafficReport } from '../traffic/traffic-report.ts'
import type { AgentFacts } from './agent-facts.ts'

/** One open tunnel of a cluster, as the hub sees it now. */
export interface TunnelReport {
  /** Of pings there and back, smoothed; null before the first answer. */
  readonly rttMs: number | null
  /** From the cluster, since the tunnel was opened. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** Over about the last ten seconds. */
  readonly bytesInPerSecond: number
  readonly bytesOutPerSecond: number
  readonly streams: number
  /** Received from the cluster and not yet read. */
  readonly bufferedBytes: number
  /** To be sent to the cluster. */
  readonly queuedBytes: number
  /** RFC 3339. */
  readonly openedAt: string
  readonly lastHeard: string
  /** Null where nobody noted it. */
  readonly agent: AgentFacts | null
  /** Its rates, and its bytes by class; absent from a replica of an older version. */
  readonly traffic?: TrafficReport
}

/** GET /tunnel/v1/clusters/<name>. */
export interface TunnelsReport {
  readonly cluster: string
  readonly isConnected: boolean
  /** That of the newest agent, which answers, first. */
  readonly tunnels: readonly TunnelReport[]
  /** How the connection ended the last time, also while there is one again; null: not that the hub knows. */
  readonly lastEnd: { readonly reason: string; readonly at: string } | null
}

export interface TunnelReportDeps {
  readonly registry: Pick<TunnelRegistry, 'sessions' | 'lastEnd'>
  readonly agentOf: (session: TunnelSession) => AgentFacts | undefined
  readonly clock: Pick<Clock, 'now'>
}

/** Of the tunnels that end in this process. */
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

/** Of a tunnel that is there and of no use: it is ending, or its agent answers no more. */
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
    // A tenth of a millisecond is more than a network tells.
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
