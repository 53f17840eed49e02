import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

/**
 * Opens a regular file of this machine. Some of them come from outside, such as those of packages: the opening of a pipe
 * would never end, and would keep a thread that every other file needs. Rejects with an error that says what it is.
 */
export async function openOwnFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if ((await file.stat()).isFile()) return file
    throw new RangeError('it is not a regular file')
  } catch (error) {
    await file.close()
    throw error
  }
}
