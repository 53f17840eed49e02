import type { EncryptionPlan } from '@skerry/apiserver'

/** The plugins (KMS) of the encryption configuration that is in use; most have none. */
export interface KeyPlugins extends Disposable {
  /** Throws what is wrong with them. */
  readonly check: () => Promise<void>
  /** Checks them until the signal aborts. Waits for `onKeys` when a plugin is back: more values may be readable. */
  follow(onKeys: () => Promise<void>, signal: AbortSignal): Promise<never>
  /** The next one is asked before `use` puts it in place. */
  replace(next: EncryptionPlan, use: () => void): Promise<void>
}

export async function lookAfter(first: EncryptionPlan): Promise<KeyPlugins> {
  let plan = first
  await plan.look()
  return {
    async check() {
      const problems = plan.problems()
      if (problems.length > 0) throw new Error(problems.join('; '))
    },
    async follow(onKeys, signal) {
      for (;;) {
        // Resolves when another plan has taken its place.
        await plan.follow(onKeys, signal)
        signal.throwIfAborted()
      }
    },
    async replace(next, use) {
      await next.look()
      use()
      const replaced = plan
      plan = next
      replaced[Symbol.dispose]()
    },
    [Symbol.dispose]: () => plan[Symbol.dispose](),
  }
}
