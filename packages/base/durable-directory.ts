import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes the names in a directory durable: a synced file may otherwise lose its name in a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

/** Makes a directory, and missing ones above it, for their owner alone. A power cut takes none of them back. */
export async function makeDirectoryDurably(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST' && (await isDirectory(path))) return
    const parent = dirname(resolve(path))
    // Below /proc, or a link that leads to nothing, mkdir(2) never succeeds: Node's own recursion would go on for ever.
    if (code !== 'ENOENT' || (await isDirectory(parent))) throw error
    await makeDirectoryDurably(parent)
    return makeDirectoryDurably(path)
  }
  await syncDirectory(dirname(resolve(path))).catch(unlessUnreadable)
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** A directory that this user may write and not read cannot be opened to be synced. */
function unlessUnreadable(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
}
