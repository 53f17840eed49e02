import { until } from '@skerry/testing'

export interface WaitOptions {
  timeoutMs?: number
  /** Returns further output for the case that the time is up. */
  diagnose?: () => Promise<string>
}

/**
 * Asks real processes until the answer is not undefined. A thrown error counts as an answer, too: the last one becomes
 * the cause of the error that names the awaited state.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { timeoutMs = 60_000, diagnose }: WaitOptions = {},
): Promise<T> {
  let last: unknown
  const ask = async (): Promise<{ answer: T } | undefined> => {
    try {
      const answer = await look()
      return answer === undefined ? undefined : { answer }
    } catch (error) {
      last = error
      return undefined
    }
  }
  try {
    const { answer } = await until(ask, AbortSignal.timeout(timeoutMs))
    return answer
  } catch {
    const details = diagnose === undefined ? '' : `\n${await diagnose()}`
    throw new Error(`Waited ${timeoutMs / 1_000} s in vain: ${what}${details}`, { cause: last })
  }
}
