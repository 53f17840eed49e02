import { setFlagsFromString } from 'node:v8'
import type { Clock } from '@skerry/base'
import { busyMeter } from './busy-share.ts'

/** The engine of this process; injected for tests. */
export interface Compiler {
  /** Share of the time since the last call in which the event loop had work, 0 to 1. */
  busyShare(): number
  /** From now on what is hot is compiled to machine code. */
  start(): void
}

const limits = Object.freeze({
  /** To start takes all of a small processor for some seconds, once. */
  startingMs: 10_000,
  lookMs: 2_000,
  /** What it may work without compilers: this share of the time, and so much beyond it. */
  idleShare: 0.05,
  workMsMax: 1_000,
})

/** Of engine-flags.ts. */
const withoutCompilers = '--no-opt'

/**
 * The compilers' own pages and what they make are 14 MB of an agent that mostly waits. So it begins without them, and
 * has them from when it has worked for a while, until its end. Ends then, or with the signal; never rejects.
 */
export async function compileWhenBusy(
  { clock, compiler }: { clock: Clock; compiler: Compiler },
  signal: AbortSignal,
): Promise<void> {
  const rest = (ms: number): Promise<void> =>
    clock.sleep(ms, signal).catch(() => {
      // Only the signal ends the sleep early, and the loop looks at it.
    })
  await rest(limits.startingMs)
  // What the start took does not count.
  compiler.busyShare()
  let workMs = 0
  while (workMs < limits.workMsMax && !signal.aborted) {
    await rest(limits.lookMs)
    workMs += (compiler.busyShare() - limits.idleShare) * limits.lookMs
    workMs = Math.max(0, workMs)
  }
  if (!signal.aborted) compiler.start()
}

/** Undefined when the engine was started with its compilers. */
export function thisCompiler(engineFlags: readonly string[]): Compiler | undefined {
  if (!engineFlags.includes(withoutCompilers)) return undefined
  return {
    busyShare: busyMeter(),
    start() {
      for (const flag of ['--sparkplug', '--maglev', '--opt']) setFlagsFromString(flag)
    },
  }
}
