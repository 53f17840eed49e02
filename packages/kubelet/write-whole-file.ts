import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectoryDurably, syncDirectory } from '@skerry/base'

/**
 * Writes a file so that a power cut leaves the former content or this one: aside, synced, renamed. Makes a missing directory.
 * Two writes of one file must follow one another.
 */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  const directory = dirname(path)
  await makeDirectoryDurably(directory)
  const aside = `${path}.new`
  {
    await using file = await open(aside, 'w', 0o600)
    await file.writeFile(text)
    await file.sync()
  }
  await rename(aside, path)
  await syncDirectory(directory)
}
