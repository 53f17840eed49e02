/** A flag that one waiter sleeps on; raising it many times before it is read wakes once. */
export interface WakeFlag {
  raise: () => void
  /** Takes the flag down: the waiter is about to look at everything that was raised until now. */
  lower(): void
  /** Resolves when the flag is up and takes it down; rejects with the signal's reason. */
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
