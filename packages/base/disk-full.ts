import { ExpectedError, exitCodes } from './expected-error.ts'
import { baseBounds } from './limits-table.ts'

const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])
/** The value of SQLITE_FULL in sqlite3.h. */
const sqliteFull = 13
const { depthMax } = baseBounds.diskFull

/**
 * Returns true if an error means that a disk, or a quota, is full, as reported by the system or by
 * SQLite. Checks the error's causes as well, and the error that a failed disposal suppressed.
 */
export function isDiskFull(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > depthMax) return false
  if ('code' in error && codes.has(error.code)) return true
  if ('errcode' in error && Number(error.errcode) % 256 === sqliteFull) return true
  if (isDiskFull(error.cause, depth + 1)) return true
  return (
    error instanceof SuppressedError &&
    (isDiskFull(error.error, depth + 1) || isDiskFull(error.suppressed, depth + 1))
  )
}

/**
 * Returns one line that says what to do. The action names the path: `restore to
 * /var/lib/skerry/site/store.db`.
 */
export function diskFullError(action: string, cause: unknown): ExpectedError {
  return new ExpectedError(
    `Cannot ${action}: no space, or no quota, is left on the disk; free some and do it again`,
    exitCodes.diskFull,
    { cause },
  )
}
