import { readFile } from 'node:fs/promises'
import { asError, type Clock, type Logger } from '@skerry/base'

export interface FollowedFile {
  readonly path: string
  /** The text in use. */
  readonly text: string
  /** The interval at which the file is read. */
  readonly lookMs: number
}

/**
 * Calls `onText` with each new content until the signal aborts. Unreadable or unusable content is
 * logged once, and the last good content stays in use, as upstream.
 */
export async function followFile(
  file: FollowedFile,
  onText: (text: string) => Promise<void>,
  { clock, log }: { clock: Clock; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  let seen = file.text
  while (!signal.aborted) {
    await clock.sleep(file.lookMs, signal)
    try {
      const text = await readFile(file.path, 'utf8')
      if (text === seen) continue
      seen = text
      await onText(text)
      log.info('Configuration reloaded', { path: file.path })
    } catch (error) {
      if (signal.aborted) return
      log.error('Configuration not reloaded, the last good one stays in use', {
        path: file.path,
        error: asError(error),
      })
    }
  }
}
