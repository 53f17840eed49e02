import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ExpectedError, exitCodes, makeDirectoryDurably, syncDirectory } from '@skerry/base'

/** For keys and tokens, which only the owner may read. */
export const secretMode = 0o600
export const publicMode = 0o644

/**
 * Writes `text` to `path` so that a reader, or a machine that loses power, sees either the old
 * content or the new, never a part. Creates a missing directory for its owner alone.
 */
export async function writeFileDurably(path: string, text: string, mode: number): Promise<void> {
  const directory = dirname(path)
  await makeDirectoryDurably(directory)
  const temporary = join(directory, `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  try {
    await using file = await open(temporary, 'wx', mode)
    // The umask may have removed permissions.
    await file.chmod(mode)
    await file.writeFile(text)
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(directory)
}

/**
 * Creates the directory, for its owner alone, unless it exists. Throws ExpectedError if a file has
 * its place or that of a directory above.
 */
export async function ensureDirectory(path: string): Promise<void> {
  try {
    await makeDirectoryDurably(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error
    throw new ExpectedError(
      `Cannot make directory ${path}: a file is in the place of it, or of a directory above it; remove the file`,
      exitCodes.dataDirectory,
      { cause: error },
    )
  }
}

/** Describes the thing in place of an unreadable file, and names what to remove. */
const inPlaceOfFile: Readonly<Record<string, readonly [found: string, removed: string]>> =
  Object.freeze({
    EISDIR: ['a directory is in its place', 'the directory'],
    ELOOP: ['its symbolic link leads in a circle', 'the link'],
  })

/**
 * Returns undefined if there is no such file. Throws ExpectedError for a directory and for a circle
 * of links.
 */
export async function readFileIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return undefined
    const found = inPlaceOfFile[String(code)]
    if (found === undefined) throw error
    throw new ExpectedError(
      `Cannot read ${path}: ${found[0]}; remove ${found[1]}, and restore the file from a backup`,
      exitCodes.dataDirectory,
      { cause: error },
    )
  }
}
