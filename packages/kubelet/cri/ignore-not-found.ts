import { isRuntimeError } from './container-runtime.ts'

/**
 * Ignores NotFound: stopping and removing have succeeded when the object is gone, whichever client removed
 * it.
 */
export async function ignoreNotFound(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isRuntimeError(error, 'NotFound')) throw error
  }
}
