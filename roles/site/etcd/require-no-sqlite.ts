import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'

/** Throws ExpectedError if the site's state is in a file, which a start with etcd would leave behind. */
export async function requireNoSqlite(dataDir: string): Promise<void> {
  const path = join(dataDir, 'store.db')
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (!isThere) return
  throw new ExpectedError(
    `Cannot start etcd: the state of this site is in ${path}; move it with "skerry store export", or pass an empty --data-dir`,
    exitCodes.dataDirectory,
  )
}
