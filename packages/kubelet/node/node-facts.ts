import { readFile, statfs } from 'node:fs/promises'
import { arch, cpus, release } from 'node:os'
import { quantityToMilli, quantityToNumber, type NodeSystemInfo } from '@skerry/api'
import { detectCgroups, type Cgroups } from '../containerd/cgroups.ts'
import { readBootId } from '../containerd/process-identity.ts'
import type { RuntimeVersion } from '../cri/container-runtime.ts'
import type { NodeFacts } from '../pods/node-context.ts'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface Machine {
  cgroups: Cgroups
  cpuCount: number
  memoryBytes: number
  ephemeralStorageBytes: number
  systemInfo: Omit<NodeSystemInfo, 'containerRuntimeVersion' | 'kubeletVersion'>
}

const architectures: Readonly<Record<string, string>> = Object.freeze({
  x64: 'amd64',
  arm64: 'arm64',
})

export async function readMachine(dataDirectory: string): Promise<Machine> {
  const disk = await statfs(dataDirectory)
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const machineId = await readFile('/etc/machine-id', 'utf8').catch(() => '')
  const systemUuid = await readFile('/sys/class/dmi/id/product_uuid', 'utf8').catch(() => '')
  return {
    cgroups: await detectCgroups(),
    cpuCount: cpus().length,
    memoryBytes: memoryOf(await readFile('/proc/meminfo', 'utf8')).totalBytes,
    ephemeralStorageBytes: disk.blocks * disk.bsize,
    systemInfo: {
      architecture: architectures[arch()] ?? arch(),
      bootID: await readBootId(),
      kernelVersion: release(),
      kubeProxyVersion: '',
      machineID: machineId.trim(),
      operatingSystem: 'linux',
      osImage: /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? 'Linux',
      systemUUID: systemUuid.trim() || machineId.trim(),
    },
  }
}

export function memoryOf(meminfo: string): { totalBytes: number; availableBytes: number } {
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? 0) * 1024
  return { totalBytes: bytes('MemTotal'), availableBytes: bytes('MemAvailable') }
}

export interface NodeResources {
  capacity: Record<string, string>
  allocatable: Record<string, string>
}

const { evictionMemoryBytes } = kubeletBounds.nodeFacts
const evictionDiskShare = 0.1

export function nodeResources(machine: Machine, config: ResolvedConfig): NodeResources {
  const { reserved, podsMax } = config.registration
  const cpuMilli = machine.cpuCount * 1000 - quantityToMilli(reserved['cpu'] ?? '0')
  const memory = machine.memoryBytes - quantityToNumber(reserved['memory'] ?? '0')
  const disk = machine.ephemeralStorageBytes
  const common = { 'hugepages-1Gi': '0', 'hugepages-2Mi': '0', pods: String(podsMax) }
  const kibibytes = (bytes: number): string => `${Math.floor(Math.max(0, bytes) / 1024)}Ki`
  return {
    capacity: {
      cpu: String(machine.cpuCount),
      'ephemeral-storage': kibibytes(disk),
      memory: kibibytes(machine.memoryBytes),
      ...common,
    },
    allocatable: {
      cpu: cpuMilli % 1000 === 0 ? String(cpuMilli / 1000) : `${cpuMilli}m`,
      'ephemeral-storage': String(Math.floor(disk * (1 - evictionDiskShare))),
      memory: kibibytes(memory - evictionMemoryBytes),
      ...common,
    },
  }
}

export function nodeFacts(machine: Machine, config: ResolvedConfig): NodeFacts {
  const { allocatable } = nodeResources(machine, config)
  return {
    bootId: machine.systemInfo.bootID,
    get hostIps() {
      return config.nodeIps()
    },
    memoryCapacityBytes: machine.memoryBytes,
    allocatable: {
      cpuMilli: quantityToMilli(allocatable['cpu'] ?? '0'),
      memoryBytes: quantityToNumber(allocatable['memory'] ?? '0'),
      ephemeralStorageBytes: quantityToNumber(allocatable['ephemeral-storage'] ?? '0'),
    },
  }
}

export function systemInfo(
  machine: Machine,
  runtime: RuntimeVersion,
  kubeletVersion: string,
): NodeSystemInfo {
  const { runtimeName, runtimeVersion } = runtime
  return {
    ...machine.systemInfo,
    containerRuntimeVersion: `${runtimeName}://${runtimeVersion}`,
    kubeletVersion,
  }
}
