import { isStatusError } from '@skerry/api'
import { ifThere } from '@skerry/client'

/**
 * Resolves with nothing if the object of a patch is gone, even if another one has its name meanwhile: the patch names the
 * UID of the one that it means, and no object may change its own.
 */
export async function ifSame<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await ifThere(asked)
  } catch (error) {
    if (!isStatusError(error, 'Invalid')) throw error
    const isOther = error.details?.causes?.some(({ field }) => field === 'metadata.uid')
    if (isOther === true) return undefined
    throw error
  }
}
