import { linkedSignal } from './abort.ts'
import { messageOf } from './message-of.ts'

export type Task = (scope: AbortSignal) => Promise<unknown>

/**
 * Runs the tasks together and waits for all of them. The first failure aborts the others' scope and
 * is thrown; later ones, except mere consequences of the abort, are kept in an AggregateError. If
 * `signal` aborts and the tasks end because of it, resolves.
 */
export async function runAll(signal: AbortSignal, tasks: readonly Task[]): Promise<void> {
  using scope = linkedSignal(signal)
  const failures: unknown[] = []
  await Promise.all(
    tasks.map(async (task) => {
      try {
        await task(scope.signal)
      } catch (error) {
        if (scope.signal.aborted && error === scope.signal.reason) return
        failures.push(error)
        scope.abort(error)
      }
    }),
  )
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, messageOf(failures[0]))
}
