import type { EncryptionPlan } from '@skerry/apiserver'
import { abortReason, type Task } from '@skerry/base'

/** The plugins (KMS) of the encryption configuration that is in use; most have none. */
export interface KeyPlugins extends Disposable {
  /** Throws what is wrong with them. */
  readonly check: () => Promise<void>
  /** Returns a task that calls it when a plugin is back, because unreadable values may be readable then. */
  reportTo(onKeys: () => Promise<void>): Task
  /** The next one is asked before `use` puts it in place. */
  replace(next: EncryptionPlan, use: () => void): Promise<void>
}

export async function lookAfter(first: EncryptionPlan): Promise<KeyPlugins> {
  let plan = first
  let onRecovered: () => void = () => undefined
  await plan.start(() => onRecovered())
  return {
    async check() {
      const problems = plan.problems()
      if (problems.length > 0) throw new Error(problems.join('; '))
    },
    reportTo: (onKeys) => (signal) =>
      new Promise((_resolve, reject) => {
        onRecovered = () => void onKeys().catch(reject)
        const onAbort = (): void => reject(abortReason(signal))
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      }),
    async replace(next, use) {
      await next.start(() => onRecovered())
      use()
      plan[Symbol.dispose]()
      plan = next
    },
    [Symbol.dispose]: () => plan[Symbol.dispose](),
  }
}
