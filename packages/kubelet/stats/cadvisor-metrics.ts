import { cpus } from 'node:os'
import {
  counter,
  gauge,
  metricsText,
  type MetricFamily,
  type MetricSample,
} from './metrics-text.ts'
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
    ...networkFamilies(summary),
    gauge('machine_cpu_cores', 'Logical cores of the machine', once(cpus().length)),
    gauge('machine_memory_bytes', 'Memory of the machine', once(machine.memoryTotalBytes)),
  ])
}

/** Each pod's traffic by interface. */
function networkFamilies({ pods }: StatsSummary): MetricFamily[] {
  const samples = (field: 'rxBytes' | 'rxErrors' | 'txBytes' | 'txErrors'): MetricSample[] =>
    pods.flatMap(({ podRef, network }) =>
      (network?.interfaces ?? []).flatMap(({ name, [field]: value }) => {
        const labels = { interface: name, namespace: podRef.namespace, pod: podRef.name }
        const atMs = Date.parse(network?.time ?? '')
        return value === undefined ? [] : [{ labels, value, atMs }]
      }),
    )
  const family = (what: string, help: string, found: readonly MetricSample[]): MetricFamily =>
    counter(`container_network_${what}_total`, help, found)
  return [
    family('receive_bytes', 'Bytes that the pod has received', samples('rxBytes')),
    family('receive_errors', 'Errors while the pod received', samples('rxErrors')),
    family('transmit_bytes', 'Bytes that the pod has sent', samples('txBytes')),
    family('transmit_errors', 'Errors while the pod sent', samples('txErrors')),
  ]
}
