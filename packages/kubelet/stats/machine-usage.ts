import { readFile, statfs } from 'node:fs/promises'
import { cpuNanosecondsOf, memoryUsageOf } from './parse-machine-usage.ts'

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
}

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
  const [stat, meminfo, disk] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    readFile('/proc/meminfo', 'utf8'),
    statfs(dataDirectory),
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
  }
}
