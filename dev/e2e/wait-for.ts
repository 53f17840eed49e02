import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  timeoutMs?: number
  intervalMs?: number
  /** Returns further output for the case that the time is up. */
  diagnose?: () => Promise<string>
}

/**
 * Asks again until the answer is not undefined. Real processes have no injected clock; the test waits for a
 * state of the world, never for a span of time. A thrown error is an answer, too: the last one is reported
 * when the time is up.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { timeoutMs = 60_000, intervalMs = 250, diagnose }: WaitOptions = {},
): Promise<T> {
  const startMs = performance.now()
  let last: unknown
  for (;;) {
    try {
      const answer = await look()
      if (answer !== undefined) return answer
    } catch (error) {
      last = error
    }
    const tookMs = performance.now() - startMs
    if (tookMs > timeoutMs) {
      const seconds = Math.round(tookMs / 1_000)
      const details = diagnose === undefined ? '' : `\n${await diagnose()}`
      throw new Error(`Waited ${seconds} s in vain: ${what}${details}`, { cause: last })
    }
    await sleep(intervalMs)
  }
}
