import { setFlagsFromString } from 'node:v8'
import type { Clock } from '@skerry/base'
import { busyMeter } from './busy-share.ts'
import { runtimeBounds } from './limits-table.ts'

/** The engine of this process; injected for tests. */
export interface Compiler {
  /** Returns the share of the time since the last call in which the event loop was busy, 0 to 1. */
  busyShare(): number
  /** From now on, hot code is compiled to machine code. */
  start(): void
}

const limits = runtimeBounds.compileWhenBusy

/** One of the flags in engine-flags.ts. */
const withoutCompilers = '--no-opt'

/**
 * Starts the compilers once an agent is busy. Their own pages and their output are 14 MB of an agent that
 * mostly waits, so it begins without them, and keeps them once it has worked for a while. Ends then, or with
 * the signal; never rejects.
 */
export async function compileWhenBusy(
  { clock, compiler }: { clock: Clock; compiler: Compiler },
  signal: AbortSignal,
): Promise<void> {
  const rest = (ms: number): Promise<void> =>
    clock.sleep(ms, signal).catch(() => {
      // Only the signal ends the sleep early, and the loop checks it.
    })
  await rest(limits.startingMs)
  // This resets the meter, so that the start does not count.
  compiler.busyShare()
  let workMs = 0
  while (workMs < limits.workMsMax && !signal.aborted) {
    await rest(limits.lookMs)
    workMs += (compiler.busyShare() - limits.idleShare) * limits.lookMs
    workMs = Math.max(0, workMs)
  }
  if (!signal.aborted) compiler.start()
}

/** Returns undefined if the engine was started with its compilers. */
export function thisCompiler(engineFlags: readonly string[]): Compiler | undefined {
  if (!engineFlags.includes(withoutCompilers)) return undefined
  return {
    busyShare: busyMeter(),
    start() {
      for (const flag of ['--sparkplug', '--maglev', '--opt']) setFlagsFromString(flag)
    },
  }
}
