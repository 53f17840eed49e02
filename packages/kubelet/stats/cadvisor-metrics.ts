import { cpus } from 'node:os'
import { counter, gauge, metricsText } from './metrics-text.ts'
import { cpuSample, memorySample } from './resource-metrics.ts'
import type { MachineUsage } from './machine-usage.ts'
import type { StatsSummary } from './stats-summary.ts'

/** Returns GET /metrics/cadvisor: those of cAdvisor's many figures that the runtime measures. */
export function cadvisorMetrics(summary: StatsSummary, machine: MachineUsage): string {
  const containers = summary.pods.flatMap(({ podRef, containers: all }) =>
    all.map((container) => ({
      ...container,
      labels: { container: container.name, namespace: podRef.namespace, pod: podRef.name },
    })),
  )
  const memory = (field: 'workingSetBytes' | 'usageBytes' | 'rssBytes') =>
    containers.flatMap((container) => memorySample(container.labels, container.memory, field))
  const once = (value: number) => [{ labels: {}, value }]
  return metricsText([
    counter(
      'container_cpu_usage_seconds_total',
      'CPU time that the container has used, in seconds of one core',
      containers.flatMap(({ labels, cpu }) => cpuSample(labels, cpu)),
    ),
    gauge('container_memory_rss', 'Anonymous memory of the container', memory('rssBytes')),
    gauge('container_memory_usage_bytes', 'All memory of the container', memory('usageBytes')),
    gauge(
      'container_memory_working_set_bytes',
      'Memory that cannot be taken back at once',
      memory('workingSetBytes'),
    ),
    gauge('machine_cpu_cores', 'Logical cores of the machine', once(cpus().length)),
    gauge('machine_memory_bytes', 'Memory of the machine', once(machine.memoryTotalBytes)),
  ])
}
