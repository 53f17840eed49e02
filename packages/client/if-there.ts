import { isStatusError } from '@skerry/api'

/** Resolves to undefined if the server has no such object. Rejects with every other error. */
export async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
