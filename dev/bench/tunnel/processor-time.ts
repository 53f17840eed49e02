import { processorMs } from '../../processes/role-process.ts'
import type { Subject } from './subject.ts'

/** CPU time by end, in milliseconds; an end whose process is not known is omitted. */
export type ProcessorTime = Readonly<Partial<Record<'cloud' | 'edge', number>>>

type Ends = Pick<Subject, 'cloudPid' | 'edgePid'>

/** Measures the CPU time of each end of a tunnel during the load. */
export async function processorTimeOf<Result>(
  ends: Ends,
  load: () => Promise<Result>,
): Promise<{ result: Result; time: ProcessorTime }> {
  const before = await read(ends)
  const result = await load()
  const after = await read(ends)
  const time: { cloud?: number; edge?: number } = {}
  for (const end of ['cloud', 'edge'] as const) {
    const [from, to] = [before[end], after[end]]
    if (from !== undefined && to !== undefined) time[end] = to - from
  }
  return { result, time }
}

/** Returns the figures of a load: the time per unit, times `factor`. */
export function perUnit(
  name: string,
  time: ProcessorTime,
  { units, factor }: { units: number; factor: number },
): Record<string, number> {
  const entries = Object.entries(time)
  return Object.fromEntries(
    entries.map(([end, ms]) => [`${name}.processor.${end}`, (ms * factor) / units]),
  )
}

async function read({ cloudPid, edgePid }: Ends): Promise<ProcessorTime> {
  return {
    ...(cloudPid === undefined ? {} : { cloud: await processorMs(cloudPid) }),
    ...(edgePid === undefined ? {} : { edge: await processorMs(edgePid) }),
  }
}
