import { asError } from './as-error.ts'
import type { Clock } from './clock.ts'

/** A signal that follows its parent and can be aborted on its own; dispose it to let go of the parent. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal
  abort(reason: unknown): void
}

/** Unlike AbortSignal.any, releases its listener when disposed: parents here live for weeks. */
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

/** Calls once when the signal aborts; at once where it has, as a listener of its own would never hear. */
export function whenAborted(signal: AbortSignal, onAbort: () => void): void {
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
}

/** The reason as an Error, whatever was passed to abort(). */
export function abortReason(signal: AbortSignal): Error {
  return asError(signal.reason)
}

export interface TimeoutOptions {
  ms: number
  /** Becomes the error's message, e.g. `Cannot dial hub: no answer in 10000 ms`. */
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

/** The answer; rejects with the signal's reason when that comes first. */
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
