import { systemClock } from '@skerry/base'

const pollMs = 100

/**
 * Asks again until the object exists and is as wanted. Servers that start answer with all kinds of errors, so
 * each is passed over; when the signal aborts, the last one is the cause.
 */
export async function untilFound<T>(
  read: () => Promise<T | undefined>,
  isWanted: (found: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  let last: unknown
  for (;;) {
    try {
      const found = await read()
      if (found !== undefined && isWanted(found)) return found
    } catch (error) {
      last = error
    }
    await systemClock.sleep(pollMs, signal).catch((reason: unknown) => {
      throw new Error('Waited in vain for an object', { cause: last ?? reason })
    })
  }
}
