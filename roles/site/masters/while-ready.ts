import { linkedSignal, withTimeout, type Clock, type Task } from '@skerry/base'
import { readBody, type Transport } from '@skerry/client'
import { siteBounds } from '../limits-table.ts'

export interface WhileReadyDeps {
  /** Asks this server itself. */
  readonly transport: Transport
  readonly clock: Clock
  /** Called when the task is stopped because the server is not ready. */
  readonly onLost: () => void
}

const { lookMs, answerMs, failuresMax } = siteBounds.whileReady

/**
 * Runs a task while this server answers that it is ready, as often as that changes. A master that has lost its store
 * leaves the work to the others. Ends when the task ends by itself; rejects with the signal's reason or when it fails.
 */
export async function whileReady(
  { transport, clock, onLost }: WhileReadyDeps,
  task: Task,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    while (!(await isReady(transport, clock, signal))) await clock.sleep(lookMs, signal)
    using scope = linkedSignal(signal)
    const lost = untilLost({ transport, clock }, scope.signal).then(
      () => scope.abort(new ServerNotReadyError('The API server is not ready')),
      () => undefined,
    )
    try {
      await task(scope.signal)
      if (!scope.signal.aborted) return
    } catch (error) {
      signal.throwIfAborted()
      if (!(scope.signal.reason instanceof ServerNotReadyError)) throw error
    } finally {
      scope.abort(new Error('The task has ended'))
      await lost
    }
    signal.throwIfAborted()
    onLost()
  }
}

class ServerNotReadyError extends Error {
  override name = 'ServerNotReadyError'
}

async function untilLost(
  { transport, clock }: Pick<WhileReadyDeps, 'transport' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; failures < failuresMax;) {
    await clock.sleep(lookMs, signal)
    failures = (await isReady(transport, clock, signal)) ? 0 : failures + 1
  }
}

async function isReady(transport: Transport, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const limit = { ms: answerMs, message: 'no answer in time', clock }
  try {
    return await withTimeout(limit, signal, async (scope) => {
      const request = { method: 'GET', path: '/readyz', headers: {} } as const
      const { status, body } = await transport.send(request, scope)
      await readBody(body)
      return status === 200
    })
  } catch {
    // The reason is in the log of the store.
    signal.throwIfAborted()
    return false
  }
}
