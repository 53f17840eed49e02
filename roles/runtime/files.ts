import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
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

/**
 * Removes everything in a directory, and the directory as well, unless it is a mount point or a link: then the machine's
 * owner has given it a disk, which stays as it was, empty.
 */
export async function removeDirectory(path: string): Promise<void> {
  for (const name of await namesIn(path)) {
    await rm(join(path, name), { recursive: true, force: true })
  }
  try {
    await rmdir(path)
  } catch (error) {
    if (!['ENOENT', 'EBUSY', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error
  }
}
