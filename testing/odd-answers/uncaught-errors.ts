import assert from 'node:assert/strict'
import { after, afterEach } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Errors that would have ended the process, since it was made: the test runner outlives them and may only print them. */
export interface UncaughtErrors extends Disposable {
  readonly errors: readonly unknown[]
}

export function collectUncaught(): UncaughtErrors {
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  process.on('uncaughtException', onError)
  process.on('unhandledRejection', onError)
  return {
    errors,
    [Symbol.dispose]() {
      process.off('uncaughtException', onError)
      process.off('unhandledRejection', onError)
    },
  }
}

/** Fails each later test of the file in which an error would have ended the process. */
export function failOnUncaught(): void {
  const uncaught = collectUncaught()
  afterEach(async () => {
    await nextTurn()
    assert.deepEqual(uncaught.errors, [])
  })
  after(() => uncaught[Symbol.dispose]())
}
