import { ExpectedError, exitCodes } from './expected-error.ts'

const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])
/** SQLITE_FULL of sqlite3.h. */
const sqliteFull = 13
const depthMax = 8

/**
 * Reports whether an error says that no space, or no quota, is left on a disk, in the words of the system or of
 * SQLite. Also looks at what caused the error, and at the error that hid behind a failed disposal.
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

/** Returns one line with what to do. The action names the path: `restore to /var/lib/skerry/site/store.db`. */
export function diskFullError(action: string, cause: unknown): ExpectedError {
  return new ExpectedError(
    `Cannot ${action}: no space, or no quota, is left on the disk; free some and do it again`,
    exitCodes.diskFull,
    { cause },
  )
}
