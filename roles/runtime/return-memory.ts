import { setFlagsFromString } from 'node:v8'
import type { Clock } from '@skerry/base'
import { busyMeter } from './busy-share.ts'
import { runtimeBounds } from './limits-table.ts'

/** The engine's counters and controls; injected for tests. */
export interface Engine {
  /** Bytes of objects, reachable or not, with what they hold outside of the heap. */
  usedBytes(): number
  /** Returns the share of the time since the last call in which the event loop was busy, 0 to 1. */
  busyShare(): number
  /** Bytes of objects in the heap, reachable or not. */
  heapBytes(): number
  /** Collects everything, in slices. */
  collect(): Promise<void>
  /**
   * Sets whether the heap may grow by only 40 % until it is collected, which takes a sixth more time and
   * halves the garbage.
   */
  growLittle(isOn: boolean): void
}

const limits = runtimeBounds.returnMemory

/**
 * Returns memory after a burst, when the engine would keep its garbage for minutes, because nothing asks for
 * memory. A box at the edge runs the workloads, too, so a calm process gives back what it does not need. In a
 * large burst the engine collects more often. Ends with the signal; never rejects.
 */
export async function returnMemory(
  { clock, engine }: { clock: Clock; engine: Engine },
  signal: AbortSignal,
): Promise<void> {
  let keptBytes = 0
  let keptHeapBytes = Infinity
  let quietLooks = 0
  while (!signal.aborted) {
    await clock.sleep(limits.lookMs, signal).catch(() => {
      // Only the signal ends the sleep early, and the loop checks it.
    })
    if (signal.aborted) continue
    engine.growLittle(engine.heapBytes() > keptHeapBytes + limits.burstBytes)
    const share = engine.busyShare()
    const usedBytes = engine.usedBytes()
    quietLooks = share > limits.quietShareMax ? 0 : quietLooks + 1
    const isQuiet = quietLooks >= limits.quietLooksMin && usedBytes <= limits.quietBytesMax
    if (share > limits.busyShareMax && !isQuiet) continue
    if (usedBytes < keptBytes * limits.growthFactor + limits.growthBytes) continue
    await engine.collect()
    quietLooks = 0
    keptBytes = engine.usedBytes()
    keptHeapBytes = engine.heapBytes()
    engine.growLittle(false)
  }
}

/**
 * `flags` are those of the engine, which may set how much the heap grows. Returns undefined if the engine was started
 * without --expose-gc: see engine-flags.ts.
 */
export function thisEngine(flags: readonly string[]): Engine | undefined {
  const { gc } = globalThis
  if (gc === undefined) return undefined
  const isGrowthSet = flags.some((flag) => flag.startsWith('--heap-growing-percent='))
  let isLittle = false
  return {
    usedBytes() {
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    },
    heapBytes: () => process.memoryUsage().heapUsed,
    busyShare: busyMeter(),
    growLittle(isOn) {
      if (isGrowthSet || isOn === isLittle) return
      isLittle = isOn
      // The value 0 is the engine's own choice.
      setFlagsFromString(`--heap-growing-percent=${isOn ? 40 : 0}`)
    },
    async collect() {
      await gc({ type: 'major', execution: 'async', flavor: 'last-resort' })
    },
  }
}
