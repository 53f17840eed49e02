import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes the names in a directory durable: a synced file may otherwise lose its name in a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

/** Makes a directory, and missing ones above it, for their owner alone. A power cut takes none of them back. */
export async function makeDirectoryDurably(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const end = resolve(first)
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncDirectory(dirname(made)).catch(unlessUnreadable)
    if (made === end || made === dirname(made)) return
  }
}

/** A directory that this user may write and not read cannot be opened to be synced. */
function unlessUnreadable(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
}
