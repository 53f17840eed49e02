import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import type { ContainerStats } from '../cri/container-runtime.ts'
import { runtimeLabels } from '../pods/runtime-labels.ts'
import { cadvisorMetrics } from './cadvisor-metrics.ts'
import { type MachineUsage } from './machine-usage.ts'
import {
  cpuNanosecondsOf,
  defaultInterfaceOf,
  interfacesOf,
  memoryUsageOf,
  pressureUsageOf,
} from './parse-machine-usage.ts'
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
  network: {
    defaultInterface: 'eth0',
    interfaces: [{ name: 'eth0', rxBytes: 7, rxErrors: 0, txBytes: 8, txErrors: 0 }],
  },
  pressure: { cpu: pressureUsageOf('some avg10=1.50 avg60=0.20 avg300=0.00 total=12') },
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
  traffic: [
    {
      labels: { [runtimeLabels.podUid]: 'u1' },
      timestamp: atMs * 1e6,
      defaultInterface: { name: 'eth0', rxBytes: 10, rxErrors: 0, txBytes: 20, txErrors: 1 },
      interfaces: [],
    },
  ],
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

test('traffic is counted for pods and for the machine, and pressure for the machine', () => {
  const [found] = summary.pods
  assert.equal(found?.network?.rxBytes, 10)
  assert.deepEqual(
    found?.network?.interfaces.map(({ name }) => name),
    ['eth0'],
  )
  assert.equal(summary.node.network.txBytes, 8)
  assert.deepEqual(summary.node.cpu.psi, {
    full: { total: 0, avg10: 0, avg60: 0, avg300: 0 },
    some: { total: 12_000, avg10: 1.5, avg60: 0.2, avg300: 0 },
  })
  assert.equal(summary.node.io, undefined)
  const labels = 'interface="eth0",namespace="shop",pod="we\\"b"'
  const lines = cadvisorMetrics(summary, machine).split('\n')
  assert.ok(lines.includes(`container_network_receive_bytes_total{${labels}} 10 ${atMs}`))
  assert.ok(lines.includes(`container_network_transmit_errors_total{${labels}} 1 ${atMs}`))
})

test("interfaces are read as the kernel writes them, without the ends of pods' cables", () => {
  const dev = [
    'Inter-|   Receive                    |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop',
    '    lo:     100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0',
    '  eth0: 200 2 3 0 0 0 0 0 400 4 5 0 0 0 0 0',
    'veth12ab: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9',
  ].join('\n')
  assert.deepEqual(interfacesOf(dev), [
    { name: 'eth0', rxBytes: 200, rxErrors: 3, txBytes: 400, txErrors: 5 },
  ])
  const route = 'Iface\tDestination\tGateway\neth1\t0000FEA9\t0\neth0\t00000000\t0101A8C0\n'
  assert.equal(defaultInterfaceOf(route), 'eth0')
  assert.equal(pressureUsageOf(''), undefined)
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
