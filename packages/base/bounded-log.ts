import { copyFile, rename, rm, stat, truncate } from 'node:fs/promises'
import { asError } from './as-error.ts'
import type { Clock } from './clock.ts'
import { baseBounds } from './limits-table.ts'
import type { Logger } from './log.ts'

const { bytesMax, copiesMax, checkMs } = baseBounds.boundedLog

/**
 * Keeps the log of a program small that another process appends to, until the signal aborts: a log above 10 MiB is copied to
 * `<path>.1` and emptied, and four copies are kept. The writer must have opened it to append. Lines that it writes between
 * the copy and the emptying are lost.
 */
export async function keepLogBounded(
  path: string,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(checkMs, signal)
    try {
      await boundLog(path)
    } catch (error) {
      log.error('Log stays large, trying again', { path, error: asError(error) })
    }
  }
}

async function boundLog(path: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  if (size <= bytesMax) return
  // The oldest goes first: a full disk has room for the next copy.
  await rm(`${path}.${copiesMax}`, { force: true })
  for (let at = copiesMax - 1; at > 0; at -= 1) {
    await rename(`${path}.${at}`, `${path}.${at + 1}`).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    })
  }
  await copyFile(path, `${path}.1`)
  await truncate(path)
}
