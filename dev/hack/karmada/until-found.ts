import { systemClock } from '@skerry/base'

const pollMs = 250

/** Asks again until the object exists and is as wanted. */
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
