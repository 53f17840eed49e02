import { readFile, statfs } from 'node:fs/promises'
import {
  cpuNanosecondsOf,
  defaultInterfaceOf,
  interfacesOf,
  memoryUsageOf,
  pressureUsageOf,
  type InterfaceUsage,
  type PressureUsage,
} from './parse-machine-usage.ts'

/** The usage of the whole machine. */
export interface MachineUsage {
  /** The wall clock, in milliseconds since the Unix epoch. */
  readonly atMs: number
  readonly cpuNanoseconds: number
  readonly memoryTotalBytes: number
  readonly memoryUsageBytes: number
  /** Leaves out file pages not used lately, which the kernel would reclaim at once. */
  readonly memoryWorkingSetBytes: number
  readonly memoryRssBytes: number
  readonly disk: DiskUsage
  readonly network: MachineNetwork
  readonly pressure: MachinePressure
}

export interface MachineNetwork {
  /** The name of the interface with the default route. */
  readonly defaultInterface: string | undefined
  readonly interfaces: readonly InterfaceUsage[]
}

/** The pressure of each resource for which the kernel measures it. */
export type MachinePressure = Readonly<
  Partial<Record<'cpu' | 'memory' | 'io', PressureUsage | undefined>>
>

export interface DiskUsage {
  readonly availableBytes: number
  readonly capacityBytes: number
  readonly usedBytes: number
  readonly inodesFree: number
  readonly inodes: number
}

export async function readMachineUsage(
  dataDirectory: string,
  nowMs: number,
): Promise<MachineUsage> {
  const [stat, meminfo, disk, dev, route, cpu, memory, io] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    readFile('/proc/meminfo', 'utf8'),
    statfs(dataDirectory),
    textOf('/proc/net/dev'),
    textOf('/proc/net/route'),
    textOf('/proc/pressure/cpu'),
    textOf('/proc/pressure/memory'),
    textOf('/proc/pressure/io'),
  ])
  return {
    atMs: nowMs,
    cpuNanoseconds: cpuNanosecondsOf(stat),
    ...memoryUsageOf(meminfo),
    disk: {
      availableBytes: disk.bavail * disk.bsize,
      capacityBytes: disk.blocks * disk.bsize,
      usedBytes: (disk.blocks - disk.bfree) * disk.bsize,
      inodesFree: disk.ffree,
      inodes: disk.files,
    },
    network: { defaultInterface: defaultInterfaceOf(route), interfaces: interfacesOf(dev) },
    pressure: {
      cpu: pressureUsageOf(cpu),
      memory: pressureUsageOf(memory),
      io: pressureUsageOf(io),
    },
  }
}

/** Resolves with nothing for a file that this kernel does not have, or does not let anybody read. */
function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
