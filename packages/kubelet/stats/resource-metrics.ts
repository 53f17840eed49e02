import { counter, gauge, metricsText, type MetricSample } from './metrics-text.ts'
import type { CpuStats, MemoryStats, StatsSummary } from './stats-summary.ts'

/**
 * Returns GET /metrics/resource under upstream's names. The summary is undefined if the runtime could not be
 * read.
 */
export function resourceMetrics(summary: StatsSummary | undefined): string {
  const pods = summary?.pods ?? []
  const containers = pods.flatMap(({ podRef, containers: all }) =>
    all.map((container) => ({
      ...container,
      labels: { container: container.name, pod: podRef.name, namespace: podRef.namespace },
    })),
  )
  const podLabels = (pod: (typeof pods)[number]) => ({
    pod: pod.podRef.name,
    namespace: pod.podRef.namespace,
  })
  const error = [{ labels: {}, value: summary === undefined ? 1 : 0 }]
  return metricsText([
    counter(
      'container_cpu_usage_seconds_total',
      'CPU time that the container has used, in seconds of one core',
      containers.flatMap(({ labels, cpu }) => cpuSample(labels, cpu)),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Memory that the container holds and that cannot be taken back at once, in bytes',
      containers.flatMap(({ labels, memory }) => memorySample(labels, memory)),
    ),
    gauge(
      'container_start_time_seconds',
      'When the container started, in seconds since the Unix epoch',
      containers.flatMap(({ labels, startTime }) =>
        startTime === '' ? [] : [{ labels, value: Date.parse(startTime) / 1000 }],
      ),
    ),
    counter(
      'node_cpu_usage_seconds_total',
      'CPU time that the node has used, in seconds of one core',
      cpuSample({}, summary?.node.cpu),
    ),
    gauge(
      'node_memory_working_set_bytes',
      'Memory in use on the node that cannot be taken back at once, in bytes',
      memorySample({}, summary?.node.memory),
    ),
    counter(
      'pod_cpu_usage_seconds_total',
      'CPU time that the containers of the pod have used, in seconds of one core',
      pods.flatMap((pod) => cpuSample(podLabels(pod), pod.cpu)),
    ),
    gauge(
      'pod_memory_working_set_bytes',
      'Memory that the containers of the pod hold, in bytes',
      pods.flatMap((pod) => memorySample(podLabels(pod), pod.memory)),
    ),
    gauge(
      'resource_scrape_error',
      '1 when the figures of containers could not be read, else 0',
      error,
    ),
    gauge('scrape_error', 'Former name of resource_scrape_error', error),
  ])
}

export function cpuSample(
  labels: Readonly<Record<string, string>>,
  cpu: CpuStats | undefined,
): MetricSample[] {
  if (cpu?.usageCoreNanoSeconds === undefined) return []
  return [{ labels, value: cpu.usageCoreNanoSeconds / 1e9, atMs: Date.parse(cpu.time) }]
}

export function memorySample(
  labels: Readonly<Record<string, string>>,
  memory: MemoryStats | undefined,
  field: 'workingSetBytes' | 'usageBytes' | 'rssBytes' = 'workingSetBytes',
): MetricSample[] {
  const value = memory?.[field]
  if (memory === undefined || value === undefined) return []
  return [{ labels, value, atMs: Date.parse(memory.time) }]
}
