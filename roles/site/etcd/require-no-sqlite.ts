import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'

/** Throws ExpectedError if the directory has the state of a site of its own, which a join would leave behind. */
export async function requireNoSqlite(dataDir: string): Promise<void> {
  const path = join(dataDir, 'store.db')
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (!isThere) return
  throw new ExpectedError(
    `Cannot join: ${path} has the state of another site; pass an empty --data-dir`,
    exitCodes.dataDirectory,
  )
}
