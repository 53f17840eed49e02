import { linkedSignal } from './abort.ts'
import { messageOf } from './message-of.ts'

export type Task = (scope: AbortSignal) => Promise<unknown>

/**
 * Runs the tasks together and waits for all of them. The first failure aborts the others' scope;
 * that first failure is what is thrown, and later ones that are not mere echoes of the abort are
 * kept in an AggregateError. When `signal` aborts and the tasks end by it, resolves quietly.
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
