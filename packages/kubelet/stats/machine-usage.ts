import { readFile, statfs } from 'node:fs/promises'

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

/** The kernel counts in hundredths of a second, whatever the machine (proc(5), USER_HZ). */
const tickNanoseconds = 10_000_000

/** Sums everything but idle time and waiting for disks. */
export function cpuNanosecondsOf(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = (
    /^cpu +(.*)$/m.exec(stat)?.[1] ?? ''
  )
    .split(' ')
    .map(Number)
  return (user + nice + system + irq + softIrq + steal) * tickNanoseconds
}

export function memoryUsageOf(meminfo: string) {
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? 0) * 1024
  const memoryTotalBytes = bytes('MemTotal')
  const memoryUsageBytes = memoryTotalBytes - bytes('MemFree')
  return {
    memoryTotalBytes,
    memoryUsageBytes,
    memoryWorkingSetBytes: Math.max(0, memoryUsageBytes - bytes('Inactive\\(file\\)')),
    memoryRssBytes: bytes('AnonPages'),
  }
}
