import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { codeOf } from '../runtime/data-directory.ts'

/**
 * Throws ExpectedError where the keys of a control plane are there and its store is missing or empty. A first
 * start makes the store before the keys, so that a start which was cut off never looks like this.
 */
export async function requireStore(directory: string): Promise<void> {
  const path = join(directory, 'store.db')
  if ((await sizeOf(join(directory, 'pki', 'ca.crt'))) === undefined) return
  const size = await sizeOf(path)
  if (size !== undefined && size > 0) return
  throw new ExpectedError(
    `Cannot start: ${path} is ${size === undefined ? 'missing' : 'empty'}, and ${join(directory, 'pki')} is of a cluster that was here; run "skerry restore <backup> --data-dir ${directory}", or pass --new-store to begin with an empty cluster`,
    exitCodes.dataDirectory,
  )
}

/**
 * Throws ExpectedError if certificates are there and their authority's is missing: a new authority would replace the
 * key, and nodes and agents would trust this cluster no longer.
 */
export async function requireAuthority(directory: string): Promise<void> {
  const path = join(directory, 'pki', 'ca.crt')
  if ((await sizeOf(path)) !== undefined) return
  // The authority is made first, so that a start which was cut off never looks like this.
  if ((await sizeOf(join(directory, 'pki', 'apiserver.crt'))) === undefined) return
  throw new ExpectedError(
    `Cannot start: ${path} is missing, although certificates that it issued exist; restore ${join(directory, 'pki')} from a backup`,
    exitCodes.dataDirectory,
  )
}

/** Resolves undefined if there is no file. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    // Something exists there; the file's reader reports what.
    if (codeOf(error) === 'ELOOP') return (await lstat(path)).size
    throw error
  }
}
