/** Creates a flag for one waiter; raising it several times before it is read wakes once. */
export interface WakeFlag {
  raise: () => void
  /** Lowers the flag, because the waiter is about to handle everything raised so far. */
  lower(): void
  /** Resolves when the flag is raised, and lowers it. Rejects with the signal's reason. */
  wait(signal: AbortSignal): Promise<void>
}

export function createWakeFlag(): WakeFlag {
  let wake = Promise.withResolvers<void>()
  return {
    raise: () => wake.resolve(),
    lower() {
      wake = Promise.withResolvers<void>()
    },
    async wait(signal) {
      const aborted = Promise.withResolvers<never>()
      const onAbort = (): void => aborted.reject(signal.reason)
      if (signal.aborted) onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        await Promise.race([wake.promise, aborted.promise])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
      wake = Promise.withResolvers<void>()
    },
  }
}
