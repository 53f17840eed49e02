import { isStatusError } from '@skerry/api'

/** For deletes and patches: an object that is gone already needs nothing more. */
export async function ignoreNotFound(answer: Promise<unknown>): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
