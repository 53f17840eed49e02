import { systemClock } from '@skerry/base'

const pollMs = 250

/** What is not there yet is asked for again. */
export async function untilFound<T>(
  read: () => Promise<T>,
  isWanted: (found: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    const found = await read().catch(() => undefined)
    if (found !== undefined && isWanted(found)) return found
    await systemClock.sleep(pollMs, signal)
  }
}
