import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import type { ContainerStats } from '../cri/container-runtime.ts'
import { runtimeLabels } from '../pods/runtime-labels.ts'
import { cadvisorMetrics } from './cadvisor-metrics.ts'
import { type MachineUsage } from './machine-usage.ts'
import { cpuNanosecondsOf, memoryUsageOf } from './parse-machine-usage.ts'
import { resourceMetrics } from './resource-metrics.ts'
import { statsSummary } from './stats-summary.ts'

const atMs = Date.UTC(2026, 0, 1)
const machine: MachineUsage = {
  atMs,
  cpuNanoseconds: 2_500_000_000,
  memoryTotalBytes: 8_000,
  memoryUsageBytes: 5_000,
  memoryWorkingSetBytes: 4_000,
  memoryRssBytes: 3_000,
  disk: { availableBytes: 1, capacityBytes: 3, usedBytes: 2, inodesFree: 4, inodes: 10 },
}

function stats(name: string, attempt: number, seconds: number): ContainerStats {
  return {
    id: `${name}-${attempt}`,
    metadata: { name, attempt },
    labels: { [runtimeLabels.podUid]: 'u1', [runtimeLabels.containerName]: name },
    cpu: { timestamp: atMs * 1e6, usageCoreNanoSeconds: seconds * 1e9 },
    memory: { timestamp: atMs * 1e6, workingSetBytes: 1024 * seconds, usageBytes: 2048 },
  }
}

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'we"b', namespace: 'shop', uid: 'u1' },
  status: {
    startTime: '2025-12-31T23:00:00Z',
    containerStatuses: [
      {
        name: 'app',
        image: '',
        imageID: '',
        ready: true,
        restartCount: 1,
        state: { running: { startedAt: '2025-12-31T23:00:05Z' } },
      },
    ],
  },
}

const summary = statsSummary({
  nodeName: 'n1',
  startedMs: atMs - 1000,
  machine,
  stats: [stats('app', 1, 3), stats('app', 0, 99), stats('side', 0, 1)],
  pods: [pod],
})

test('the summary has the newest run of each container, and the sum for the pod', () => {
  const [found] = summary.pods
  assert.deepEqual(
    found?.containers.map(({ name, cpu }) => [name, cpu?.usageCoreNanoSeconds]),
    [
      ['app', 3e9],
      ['side', 1e9],
    ],
  )
  assert.deepEqual(found?.memory, {
    time: '2026-01-01T00:00:00.000Z',
    workingSetBytes: 4096,
    usageBytes: 4096,
  })
  assert.equal(summary.node.memory.availableBytes, 4_000)
})

test('resource metrics have upstream names, labels and times', () => {
  const lines = resourceMetrics(summary).split('\n')
  const labels = 'container="app",pod="we\\"b",namespace="shop"'
  for (const line of [
    `container_cpu_usage_seconds_total{${labels}} 3 ${atMs}`,
    `container_memory_working_set_bytes{${labels}} 3072 ${atMs}`,
    `container_start_time_seconds{${labels}} 1767222005`,
    `node_cpu_usage_seconds_total 2.5 ${atMs}`,
    `pod_cpu_usage_seconds_total{pod="we\\"b",namespace="shop"} 4 ${atMs}`,
    'resource_scrape_error 0',
    '# TYPE node_memory_working_set_bytes gauge',
  ]) {
    assert.ok(lines.includes(line), `${line}\n${lines.join('\n')}`)
  }
  const failed = resourceMetrics(undefined)
  assert.match(failed, /^resource_scrape_error 1$/m)
  assert.doesNotMatch(failed, /container_cpu/)
  assert.match(cadvisorMetrics(summary, machine), /^machine_memory_bytes 8000$/m)
})

test("the machine's own figures are read as the kernel writes them", () => {
  assert.equal(cpuNanosecondsOf('cpu  100 1 20 999 50 2 3 4 0 0\ncpu0 1 1 1\n'), 1_300_000_000)
  const meminfo = 'MemTotal: 100 kB\nMemFree: 20 kB\nInactive(file):  30 kB\nAnonPages: 5 kB\n'
  assert.deepEqual(memoryUsageOf(meminfo), {
    memoryTotalBytes: 102_400,
    memoryUsageBytes: 81_920,
    memoryWorkingSetBytes: 51_200,
    memoryRssBytes: 5_120,
  })
})
