import { asError, createMetrics, type Logger, type Metrics } from '@skerry/base'
import { metricNameOf, type CallCounts } from '../grpc/call-counts.ts'
import type { ServiceContext } from '../services/service-context.ts'
import type { HealthCounts } from './health-pages.ts'
import { answerText, type HttpExchange } from './http-exchange.ts'

export interface MetricSources {
  readonly calls: CallCounts
  readonly health: HealthCounts
  readonly log: Logger
}

/** Returns the page /metrics: etcd's own names, as far as there is such a number here. */
export function metricsPage(
  context: ServiceContext,
  sources: MetricSources,
): (exchange: HttpExchange) => void {
  const metrics = createMetrics()
  addServer(metrics, context, sources)
  addStore(metrics, context)
  addCalls(metrics, sources)
  addProcess(metrics)
  return (exchange) => {
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
      return answerText(exchange, 405, 'Method Not Allowed\n', { allow: 'GET' })
    }
    const type = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
    metrics.text().then(
      (text) => answerText(exchange, 200, text, type),
      (error: unknown) => {
        sources.log.error('Metrics not written', { error: asError(error) })
        answerText(exchange, 500, 'skerry etcd: the log of the server has the cause\n')
      },
    )
  }
}

type Reading = readonly [name: string, help: string, read: () => number]

function gauges(metrics: Metrics, readings: readonly Reading[]): void {
  for (const [name, help, read] of readings) {
    metrics.observed({ type: 'gauge', name, help }, () => [{ value: read() }])
  }
}

function counters(metrics: Metrics, readings: readonly Reading[]): void {
  for (const [name, help, read] of readings) {
    metrics.observed({ type: 'counter', name, help }, () => [{ value: read() }])
  }
}

function addServer(metrics: Metrics, context: ServiceContext, { health }: MetricSources): void {
  const { member, engine } = context
  const info = (name: string, help: string, label: string, value: string): void => {
    const labels = { [label]: value }
    metrics.observed({ type: 'gauge', name, help, labels: [label] }, () => [{ labels, value: 1 }])
  }
  const series = member.version.replace(/\.\d+$/, '')
  info('etcd_server_version', 'The version of the API.', 'server_version', member.version)
  info('etcd_cluster_version', 'The series of that version.', 'cluster_version', series)
  info('etcd_server_id', 'The member.', 'server_id', engine.memberId.toString(16))
  gauges(metrics, [
    ['etcd_server_has_leader', 'The only member leads itself.', () => 1],
    ['etcd_server_is_leader', 'The only member leads itself.', () => 1],
    ['etcd_server_is_learner', 'The only member votes.', () => 0],
    ['etcd_server_quota_backend_bytes', 'Bytes that the store may have.', () => member.quotaBytes],
  ])
  counters(metrics, [
    ['etcd_server_leader_changes_seen_total', 'There are no elections.', () => 0],
    ['etcd_server_health_success', 'Good answers of /health.', () => health.successes],
    ['etcd_server_health_failures', 'Bad answers of /health.', () => health.failures],
  ])
}

function addStore(metrics: Metrics, { engine }: ServiceContext): void {
  const { counts } = engine
  gauges(metrics, [
    ['etcd_mvcc_db_total_size_in_bytes', 'Bytes of the store.', () => engine.size().bytes],
    [
      'etcd_mvcc_db_total_size_in_use_in_bytes',
      'Bytes of the store that are in use.',
      () => engine.size().usedBytes,
    ],
    ['etcd_debugging_mvcc_current_revision', 'The newest revision.', () => engine.revision],
    ['etcd_debugging_mvcc_compact_revision', 'The compacted revision.', () => engine.compacted],
    ['etcd_debugging_mvcc_watcher_total', 'Open watches.', () => engine.watcherCount],
  ])
  counters(metrics, [
    ['etcd_mvcc_put_total', 'Puts.', () => counts.puts],
    ['etcd_mvcc_delete_total', 'Deleted keys.', () => counts.deletes],
    ['etcd_debugging_mvcc_events_total', 'Events.', () => counts.puts + counts.deletes],
    ['etcd_debugging_lease_granted_total', 'Granted leases.', () => counts.leasesGranted],
    ['etcd_debugging_lease_revoked_total', 'Revoked leases.', () => counts.leasesRevoked],
    ['etcd_server_lease_expired_total', 'Expired leases.', () => counts.leasesExpired],
    [
      'skerry_store_bytes_written_total',
      'Bytes that the store gave to the kernel to write, its log and merges included.',
      () => engine.counters.bytesWritten,
    ],
    [
      'skerry_store_writes_total',
      'Changes of keys that the store acknowledged.',
      () => engine.counters.writes,
    ],
  ])
  const help = 'The time in which a group of writes became durable, with its fsync.'
  const names = [
    'etcd_disk_wal_fsync_duration_seconds',
    'etcd_disk_backend_commit_duration_seconds',
  ]
  const buckets = Array.from({ length: 14 }, (_, at) => 0.001 * 2 ** at)
  const histograms = names.map((name) => metrics.histogram(name, help, { buckets }))
  engine.onCommitTimed = (ms) => {
    for (const histogram of histograms) histogram.observe(ms / 1_000)
  }
}

function addCalls(metrics: Metrics, { calls }: MetricSources): void {
  const labels = ['grpc_type', 'grpc_service', 'grpc_method', 'grpc_code']
  const name = 'grpc_server_handled_total'
  const help = 'Calls that ended, by their code.'
  metrics.observed({ type: 'counter', name, help, labels }, function* () {
    for (const { service, method, code, count } of calls) {
      const labelled = {
        grpc_type: streams.has(method) ? 'bidi_stream' : 'unary',
        grpc_service: service,
        grpc_method: method,
        grpc_code: metricNameOf(code),
      }
      yield { labels: labelled, value: count }
    }
  })
}

const streams: ReadonlySet<string> = new Set(['Watch', 'LeaseKeepAlive'])

function addProcess(metrics: Metrics): void {
  gauges(metrics, [
    ['process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss()],
    [
      'process_start_time_seconds',
      'The time at which the process started.',
      () => (performance.timeOrigin / 1_000) | 0,
    ],
  ])
  counters(metrics, [
    [
      'process_cpu_seconds_total',
      'Processor time.',
      () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
    ],
  ])
}
