import { isRuntimeError } from './container-runtime.ts'

/** Stopping and removing are done when the thing is gone, by whomever. */
export async function ignoreNotFound(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isRuntimeError(error, 'NotFound')) throw error
  }
}
