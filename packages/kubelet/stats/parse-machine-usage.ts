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
