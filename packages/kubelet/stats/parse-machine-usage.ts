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

/** The time that tasks waited for something, as the kernel's /proc/pressure counts it. */
export interface PressureUsage {
  /** All tasks waited at once. */
  readonly full: PressureShare
  readonly some: PressureShare
}

interface PressureShare {
  /** Nanoseconds since the start of the machine. */
  readonly total: number
  /** Per cent of the last 10, 60 and 300 seconds. */
  readonly avg10: number
  readonly avg60: number
  readonly avg300: number
}

/** Returns undefined for a text that is none, such as that of a kernel without it. */
export function pressureUsageOf(text: string): PressureUsage | undefined {
  const share = (line: string): PressureShare | undefined => {
    const found = new RegExp(
      `^${line} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)$`,
      'm',
    ).exec(text)
    if (!found) return undefined
    const [avg10 = 0, avg60 = 0, avg300 = 0, microseconds = 0] = found.slice(1).map(Number)
    return { total: microseconds * 1_000, avg10, avg60, avg300 }
  }
  const some = share('some')
  // Kernels before 5.13 have no line `full` for processors.
  const full = share('full') ?? { total: 0, avg10: 0, avg60: 0, avg300: 0 }
  return some && { full, some }
}

export interface InterfaceUsage {
  readonly name: string
  readonly rxBytes: number
  readonly rxErrors: number
  readonly txBytes: number
  readonly txErrors: number
}

/** Reads /proc/net/dev, without loopback and the machine's ends of pods' cables. */
export function interfacesOf(dev: string): InterfaceUsage[] {
  return dev.split('\n').flatMap((line) => {
    const [, name = '', figures = ''] = /^\s*([^\s:]+):\s*(.*)$/.exec(line) ?? []
    if (name === '' || name === 'lo' || name.startsWith('veth')) return []
    const [rxBytes = 0, , rxErrors = 0, , , , , , txBytes = 0, , txErrors = 0] = figures
      .trim()
      .split(/\s+/)
      .map(Number)
    return [{ name, rxBytes, rxErrors, txBytes, txErrors }]
  })
}

/** Returns the interface of the default route in /proc/net/route. */
export function defaultInterfaceOf(route: string): string | undefined {
  return /^(\S+)\t00000000\t/m.exec(route)?.[1]
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
