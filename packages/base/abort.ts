import { asError } from './as-error.ts'
import type { Clock } from './clock.ts'

/**
 * Creates a signal that follows its parent and can be aborted on its own. Dispose it to release the
 * parent.
 */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal
  abort(reason: unknown): void
}

/** Unlike AbortSignal.any, it releases its listener when disposed: parents here live for weeks. */
export function linkedSignal(parent: AbortSignal): LinkedSignal {
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(parent.reason)
  if (parent.aborted) onAbort()
  else parent.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => parent.removeEventListener('abort', onAbort),
  }
}

/**
 * Calls back once when the signal aborts, or at once if it has; a plain listener would then never
 * be called.
 */
export function whenAborted(signal: AbortSignal, onAbort: () => void): void {
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
}

/** Returns the reason as an Error, whatever was passed to abort(). */
export function abortReason(signal: AbortSignal): Error {
  return asError(signal.reason)
}

export interface TimeoutOptions {
  ms: number
  /** The error's message, e.g. `Cannot dial hub: no answer in 10000 ms`. */
  message: string
  clock: Pick<Clock, 'setTimer'>
}

/** Runs `work` under a signal that also aborts after `ms`. For one answer, never for a whole stream. */
export async function withTimeout<T>(
  options: TimeoutOptions,
  signal: AbortSignal,
  work: (scope: AbortSignal) => Promise<T>,
): Promise<T> {
  using scope = linkedSignal(signal)
  const { clock, ms, message } = options
  using _timer = clock.setTimer(ms, () => scope.abort(new Error(message)))
  return await work(scope.signal)
}

/** Resolves with the answer, or rejects with the signal's reason if that comes first. */
export async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(abortReason(signal))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([answer, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
