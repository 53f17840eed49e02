import { isStatusError } from '@skerry/api'

/** For deletes and patches: what is gone already needs no more doing. */
export async function ignoreNotFound(answer: Promise<unknown>): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
