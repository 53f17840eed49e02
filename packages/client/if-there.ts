import { isStatusError } from '@skerry/api'

/** Undefined where the server has no such object; rejects with every other error. */
export async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
