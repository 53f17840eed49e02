import type { Clock, Metrics } from '@skerry/base'
import type { AgentSession, TunnelAgentState, TunnelHandler, TunnelRequest } from '@skerry/tunnel'
import { requestBuckets } from './hub-metrics.ts'
import { requestClass } from './request-class.ts'

/** The reasons for which the agent itself answers, in place of its cluster. */
export type AgentRefusal = 'policy' | 'unreachable' | 'unauthorized'

export interface AgentMetrics {
  onTunnel(state: TunnelAgentState): void
  onRefused(reason: AgentRefusal): void
  /** The same handler, with its requests measured. */
  measured(handler: TunnelHandler): TunnelHandler
}

/** The names of all metrics of an agent; docs/operating.md describes each. */
export const agentMetricNames = Object.freeze({
  tunnels: 'skerry_agent_tunnels',
  dials: 'skerry_agent_tunnel_dials_total',
  ends: 'skerry_agent_tunnel_ends_total',
  streams: 'skerry_agent_tunnel_streams',
  bytes: 'skerry_agent_tunnel_bytes_total',
  rtt: 'skerry_agent_tunnel_rtt_seconds',
  buffered: 'skerry_agent_tunnel_buffered_bytes',
  queued: 'skerry_agent_tunnel_queued_bytes',
  requests: 'skerry_agent_request_duration_seconds',
  refused: 'skerry_agent_requests_refused_total',
})

export function createAgentMetrics(
  metrics: Metrics,
  clock: Pick<Clock, 'monotonicMs'>,
): AgentMetrics {
  const names = agentMetricNames
  const open = new Set<AgentSession>()
  const ended = { bytesIn: 0, bytesOut: 0 }
  const dials = metrics.counter(names.dials, 'Attempts to open a tunnel.', ['result'])
  const ends = metrics.counter(names.ends, 'Tunnels that have ended.')
  const refused = metrics.counter(
    names.refused,
    'Requests that the agent answered in place of its cluster.',
    ['reason'],
  )
  const seconds = metrics.histogram(
    names.requests,
    "Time from a request of the hub to the start of the cluster's answer.",
    { labels: ['class'], buckets: requestBuckets },
  )
  observeSessions(metrics, open, ended)
  let isDialing = false
  const measure = async <Answer>(
    request: TunnelRequest,
    isUpgrade: boolean,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const startMs = clock.monotonicMs()
    const answer = await ask()
    const tookMs = clock.monotonicMs() - startMs
    seconds.observe({ class: requestClass(request, isUpgrade) }, tookMs / 1_000)
    return answer
  }
  return {
    onTunnel(state) {
      if (state.state === 'connected') {
        const { session } = state
        dials.inc({ result: 'connected' })
        open.add(session)
        void session.closed.then(() => {
          open.delete(session)
          ended.bytesIn += session.bytesIn
          ended.bytesOut += session.bytesOut
          ends.inc()
        })
      }
      if (state.state === 'waiting' && isDialing) dials.inc({ result: 'failed' })
      isDialing = state.state === 'dialing'
    },
    onRefused: (reason) => refused.inc({ reason }),
    measured: (handler) => ({
      onRequest: (request, signal) =>
        measure(request, false, () => handler.onRequest(request, signal)),
      onUpgrade: (request, signal) =>
        measure(request, true, () => handler.onUpgrade(request, signal)),
    }),
  }
}

function observeSessions(
  metrics: Metrics,
  open: ReadonlySet<AgentSession>,
  ended: { readonly bytesIn: number; readonly bytesOut: number },
): void {
  const names = agentMetricNames
  const sum = (of: (session: AgentSession) => number): number =>
    [...open].reduce((total, session) => total + of(session), 0)
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.observed({ type: 'gauge', name, help }, () => [{ value: read() }])
  gauge(names.tunnels, 'Open tunnels; two while one of them drains.', () => open.size)
  gauge(names.streams, 'Requests that are open in tunnels.', () => sum((each) => each.streams))
  gauge(names.buffered, 'Bytes received from the hub and not yet read.', () =>
    sum((each) => each.bufferedBytes),
  )
  gauge(names.queued, 'Bytes that wait to be sent to the hub.', () =>
    sum((each) => each.queuedBytes),
  )
  metrics.observed(
    {
      type: 'counter',
      name: names.bytes,
      help: 'Bytes through tunnels; in is from the hub.',
      labels: ['direction'],
    },
    () => [
      { labels: { direction: 'in' }, value: ended.bytesIn + sum((each) => each.bytesIn) },
      { labels: { direction: 'out' }, value: ended.bytesOut + sum((each) => each.bytesOut) },
    ],
  )
  metrics.observed(
    { type: 'gauge', name: names.rtt, help: 'Round trip to the hub, smoothed.' },
    () => {
      const rttMs = [...open].at(-1)?.rttMs
      return rttMs === undefined ? [] : [{ value: rttMs / 1_000 }]
    },
  )
}
