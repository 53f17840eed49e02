import { readdir, stat } from 'node:fs/promises'
import { codeOf } from './data-directory.ts'

/** Returns whether the path exists. Rejects with the system's error if that cannot be told. */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Returns the names in a directory, and none if it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
