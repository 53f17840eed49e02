import { StatusError } from '@skerry/api'
import { PeerAnswerError, type Metrics, type ObservedValue } from '@skerry/base'
import {
  BadMessageError,
  trafficClasses,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
  type HandshakeResult,
  type TunnelRegistry,
  type TunnelRequest,
  type TunnelSession,
} from '@skerry/tunnel'
import { clusterConnectedName } from './cluster-metrics.ts'
import { requestClass } from './request-class.ts'
import { TrafficTotals, type TrafficTotal } from './traffic-totals.ts'

export interface HubMetricsDeps {
  /** The tunnels of agents that end in this process. */
  readonly own: TunnelRegistry
  /** The links of other replicas that end in this process. */
  readonly links: Pick<TunnelRegistry, 'size'>
}

export interface HubMetrics {
  onOpened(cluster: string, session: TunnelSession): void
  onHandshake(result: HandshakeResult): void
  /** Called with the number of lost audit lines. */
  onLost(lines: number): void
  /** A cluster's answer has begun. */
  onAnswer(request: TunnelRequest, isUpgrade: boolean, tookMs: number): void
  /** A request that did not come through to its cluster. */
  onFailure(error: Error): void
}

/** The names of all metrics that a hub adds to an API server's; docs/operating.md describes each. */
export const hubMetricNames = Object.freeze({
  connected: clusterConnectedName,
  tunnels: 'skerry_hub_tunnels',
  links: 'skerry_hub_replica_links',
  handshakes: 'skerry_hub_tunnel_handshakes_total',
  ends: 'skerry_hub_tunnel_ends_total',
  streams: 'skerry_hub_tunnel_streams',
  bytes: 'skerry_hub_tunnel_bytes_total',
  classBytes: 'skerry_hub_tunnel_class_bytes_total',
  rtt: 'skerry_hub_tunnel_rtt_seconds',
  buffered: 'skerry_hub_tunnel_buffered_bytes',
  queued: 'skerry_hub_tunnel_queued_bytes',
  requests: 'skerry_hub_request_duration_seconds',
  refused: 'skerry_hub_requests_refused_total',
  auditLost: 'skerry_hub_audit_lines_lost_total',
})

/** Buckets from a request that never leaves the site to one that waits for a distant cluster, in seconds. */
export const requestBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60,
]

export function createHubMetrics(metrics: Metrics, deps: HubMetricsDeps): HubMetrics {
  const names = hubMetricNames
  const totals = new TrafficTotals()
  const handshakes = metrics.counter(names.handshakes, "Agents' handshakes.", ['result'])
  const ends = metrics.counter(names.ends, 'Tunnels that have ended.')
  const refused = metrics.counter(
    names.refused,
    'Requests that did not reach their cluster, by reason.',
    ['reason'],
  )
  const seconds = metrics.histogram(
    names.requests,
    "Time from a request to a cluster to the start of the cluster's answer.",
    { labels: ['class'], buckets: requestBuckets },
  )
  const lost = metrics.counter(names.auditLost, 'Lines of the audit log that were lost.')
  observeTunnels(metrics, deps, totals)
  return {
    onOpened(cluster, session) {
      totals.add(cluster, session)
      void session.closed.then(() => ends.inc())
    },
    onHandshake: (result) => handshakes.inc({ result }),
    onLost: (lines) => lost.inc(lines),
    onAnswer: (request, isUpgrade, tookMs) =>
      seconds.observe({ class: requestClass(request, isUpgrade) }, tookMs / 1_000),
    onFailure: (error) => refused.inc({ reason: failureReason(error) }),
  }
}

/** A class that a cluster has never used takes no line. */
function classValues({ cluster, classes }: TrafficTotal): ObservedValue[] {
  return trafficClasses.flatMap((name) =>
    (['in', 'out'] as const)
      .map((direction) => ({
        labels: { cluster, class: name, direction },
        value: classes[name][direction],
      }))
      .filter(({ value }) => value > 0),
  )
}

function observeTunnels(
  metrics: Metrics,
  { own, links }: HubMetricsDeps,
  totals: TrafficTotals,
): void {
  const names = hubMetricNames
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.observed({ type: 'gauge', name, help }, () => [{ value: read() }])
  const sum = (of: (session: TunnelSession) => number): number => {
    let value = 0
    for (const cluster of own.identities()) {
      for (const session of own.sessions(cluster)) value += of(session)
    }
    return value
  }
  gauge(names.tunnels, 'Tunnels that end in this process.', () => own.size)
  gauge(names.links, 'Links of other replicas that end in this process.', () => links.size)
  gauge(names.streams, 'Requests that are open in tunnels.', () => sum((each) => each.streams))
  gauge(names.buffered, 'Bytes received from clusters and not yet read.', () =>
    sum((each) => each.bufferedBytes),
  )
  gauge(names.queued, 'Bytes that wait to be sent to clusters.', () =>
    sum((each) => each.queuedBytes),
  )
  metrics.observed(
    {
      type: 'counter',
      name: names.bytes,
      help: 'Bytes through tunnels; in is from the cluster.',
      labels: ['cluster', 'direction'],
    },
    () =>
      [...totals.all()].flatMap(({ cluster, bytesIn, bytesOut }) => [
        { labels: { cluster, direction: 'in' }, value: bytesIn },
        { labels: { cluster, direction: 'out' }, value: bytesOut },
      ]),
  )
  metrics.observed(
    {
      type: 'counter',
      name: names.classBytes,
      help: 'Bytes of frames through tunnels by class, where there are any; in is from the cluster.',
      labels: ['cluster', 'class', 'direction'],
    },
    () => [...totals.all()].flatMap(classValues),
  )
  metrics.observed(
    {
      type: 'gauge',
      name: names.rtt,
      help: 'Round trip to the agent, smoothed.',
      labels: ['cluster'],
    },
    () =>
      [...totals.sessions()].flatMap(([cluster, { rttMs }]) =>
        rttMs === undefined ? [] : [{ labels: { cluster }, value: rttMs / 1_000 }],
      ),
  )
}

function failureReason(error: Error): string {
  if (error instanceof TunnelUnavailableError) return 'not_connected'
  if (error instanceof TunnelBusyError) return 'busy'
  if (error instanceof TunnelClosedError) return 'tunnel_ended'
  if (error instanceof TunnelStreamError) return 'stream_broke'
  if (error instanceof BadMessageError) return 'bad_request'
  if (error instanceof PeerAnswerError) return 'bad_answer'
  // This is an error of a cluster that the hub dials itself.
  if (error instanceof StatusError) return error.code >= 500 ? 'unreachable' : 'bad_request'
  return 'client_gone'
}
