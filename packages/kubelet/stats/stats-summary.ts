import type { Pod } from '@skerry/api'
import type { ContainerStats, SandboxTraffic } from '../cri/container-runtime.ts'
import { runtimeLabels } from '../pods/runtime-labels.ts'
import type { MachineUsage } from './machine-usage.ts'
import type { PressureUsage } from './parse-machine-usage.ts'

/** The answer to GET /stats/summary: upstream's stats.Summary, as far as it is measured here. */
export interface StatsSummary {
  readonly node: NodeStats
  readonly pods: readonly PodStats[]
}

export interface NodeStats {
  readonly nodeName: string
  readonly startTime: string
  readonly cpu: CpuStats
  readonly memory: MemoryStats
  readonly network: NetworkStats
  readonly fs: FilesystemStats
  readonly io?: { readonly time: string; readonly psi: PressureUsage }
}

export interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string }
  readonly startTime: string
  readonly containers: readonly ContainerUsage[]
  readonly cpu?: CpuStats
  readonly memory?: MemoryStats
  readonly network?: NetworkStats
  readonly volume?: readonly MeasuredVolume[]
}

/** How full one volume of a pod is. */
export interface MeasuredVolume extends FilesystemStats {
  readonly name: string
  readonly pvcRef?: { readonly namespace: string; readonly name: string }
}

/** The figures of the interface with the default route stand next to those of all. */
export interface NetworkStats extends Partial<InterfaceStats> {
  readonly time: string
  readonly interfaces: readonly InterfaceStats[]
}

export interface InterfaceStats {
  readonly name: string
  readonly rxBytes?: number
  readonly rxErrors?: number
  readonly txBytes?: number
  readonly txErrors?: number
}

export interface ContainerUsage {
  readonly name: string
  readonly startTime: string
  readonly cpu?: CpuStats
  readonly memory?: MemoryStats
  readonly rootfs?: FilesystemStats
}

export interface CpuStats {
  readonly time: string
  readonly usageNanoCores?: number
  readonly usageCoreNanoSeconds?: number
  readonly psi?: PressureUsage
}

export interface MemoryStats {
  readonly time: string
  readonly availableBytes?: number
  readonly usageBytes?: number
  readonly workingSetBytes?: number
  readonly rssBytes?: number
  readonly pageFaults?: number
  readonly majorPageFaults?: number
  readonly psi?: PressureUsage
}

export interface FilesystemStats {
  readonly time: string
  readonly availableBytes?: number
  readonly capacityBytes?: number
  readonly usedBytes?: number
  readonly inodesFree?: number
  readonly inodes?: number
  readonly inodesUsed?: number
}

export interface SummaryInput {
  readonly nodeName: string
  readonly startedMs: number
  readonly machine: MachineUsage
  readonly stats: readonly ContainerStats[]
  readonly traffic: readonly SandboxTraffic[]
  readonly pods: readonly Pod[]
  /** Returns the volumes of a pod that are measured. If omitted, none are. */
  readonly volumesOf?: ((podUid: string) => readonly MeasuredVolume[]) | undefined
}

/** Covers only pods that the node knows, and the present run of each container. */
export function statsSummary({
  nodeName,
  startedMs,
  machine,
  stats,
  traffic,
  pods,
  volumesOf = () => [],
}: SummaryInput): StatsSummary {
  const trafficOf = newestTraffic(traffic)
  const byPod = Map.groupBy(stats, ({ labels }) => labels[runtimeLabels.podUid] ?? '')
  return {
    node: nodeStats(nodeName, startedMs, machine),
    pods: pods.flatMap((pod) => {
      const found = newestRuns(byPod.get(pod.metadata.uid ?? '') ?? [])
      const uid = pod.metadata.uid ?? ''
      const rest = { network: trafficOf.get(uid), volume: volumesOf(uid) }
      return found.length === 0 ? [] : [podStats(pod, found, rest)]
    }),
  }
}

function nodeStats(nodeName: string, startedMs: number, machine: MachineUsage): NodeStats {
  const time = timeText(machine.atMs)
  const { disk, pressure } = machine
  return {
    nodeName,
    startTime: timeText(startedMs),
    cpu: { time, usageCoreNanoSeconds: machine.cpuNanoseconds, ...psiOf(pressure.cpu) },
    memory: {
      time,
      availableBytes: machine.memoryTotalBytes - machine.memoryWorkingSetBytes,
      usageBytes: machine.memoryUsageBytes,
      workingSetBytes: machine.memoryWorkingSetBytes,
      rssBytes: machine.memoryRssBytes,
      ...psiOf(pressure.memory),
    },
    network: machineNetwork(machine),
    fs: { time, ...disk, inodesUsed: disk.inodes - disk.inodesFree },
    ...(pressure.io ? { io: { time, psi: pressure.io } } : {}),
  }
}

function psiOf(psi: PressureUsage | undefined): { psi?: PressureUsage } {
  return psi ? { psi } : {}
}

function machineNetwork({ atMs, network }: MachineUsage): NetworkStats {
  const { defaultInterface, interfaces } = network
  const main = interfaces.find(({ name }) => name === defaultInterface)
  return { time: timeText(atMs), ...main, interfaces }
}

/** A pod whose sandbox was made again has two for a while; the newer figures are those of the living one. */
function newestTraffic(traffic: readonly SandboxTraffic[]): ReadonlyMap<string, NetworkStats> {
  const inOrder = traffic.toSorted((a, b) => a.timestamp - b.timestamp)
  return new Map(
    inOrder.map(({ labels, timestamp, defaultInterface, interfaces }) => [
      labels[runtimeLabels.podUid] ?? '',
      {
        time: timeText(timestamp / 1e6),
        ...defaultInterface,
        interfaces: [...(defaultInterface ? [defaultInterface] : []), ...interfaces],
      },
    ]),
  )
}

/** Keeps the newest run of each container: after a restart the runtime knows the former one for a while, too. */
function newestRuns(stats: readonly ContainerStats[]): ContainerStats[] {
  const newest = new Map<string, ContainerStats>()
  for (const one of stats) {
    const name = one.labels[runtimeLabels.containerName] ?? ''
    const before = newest.get(name)
    if (!before || one.metadata.attempt >= before.metadata.attempt) newest.set(name, one)
  }
  return [...newest.values()]
}

function podStats(
  pod: Pod,
  stats: readonly ContainerStats[],
  { network, volume }: { network: NetworkStats | undefined; volume: readonly MeasuredVolume[] },
): PodStats {
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const containers = stats.map((one) => containerUsage(pod, one))
  const cpu = total(containers.map((container) => container.cpu))
  const memory = total(containers.map((container) => container.memory))
  return {
    podRef: { name, namespace, uid },
    startTime: pod.status?.startTime ?? '',
    containers,
    ...(cpu ? { cpu } : {}),
    ...(memory ? { memory } : {}),
    ...(network ? { network } : {}),
    ...(volume.length > 0 ? { volume } : {}),
  }
}

function containerUsage(pod: Pod, stats: ContainerStats): ContainerUsage {
  const name = stats.labels[runtimeLabels.containerName] ?? ''
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.ephemeralContainerStatuses ?? []),
  ]
  const startTime = statuses.find((status) => status.name === name)?.state?.running?.startedAt ?? ''
  const { cpu, memory, writableLayer } = stats
  return {
    name,
    startTime,
    ...(cpu ? { cpu: timed(cpu) } : {}),
    ...(memory ? { memory: timed(memory) } : {}),
    ...(writableLayer
      ? {
          rootfs: {
            time: timeText(writableLayer.timestamp / 1e6),
            usedBytes: writableLayer.usedBytes,
            inodesUsed: writableLayer.inodesUsed,
          },
        }
      : {}),
  }
}

function timed<T extends { timestamp: number }>({ timestamp, ...figures }: T) {
  return { time: timeText(timestamp / 1e6), ...figures }
}

/** Sums of what all containers have; the newest time. Undefined when nothing was measured. */
function total<T extends { time: string }>(parts: readonly (T | undefined)[]): T | undefined {
  const present = parts.filter((part) => part !== undefined)
  const [first] = present
  if (!first) return undefined
  const sum: Record<string, unknown> = {}
  for (const key of Object.keys(first)) {
    const values = present.map((part) => Reflect.get(part, key))
    if (key === 'time') sum[key] = values.map(String).toSorted().at(-1)
    else if (values.every((value) => typeof value === 'number')) {
      sum[key] = values.reduce((all: number, value) => all + Number(value), 0)
    }
  }
  // The same keys as the first part's, summed; those that some part lacks are optional.
  return sum as T
}

/** Formats with milliseconds, because rates are computed from the difference of two times. */
function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
