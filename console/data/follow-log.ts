/** Follows the log of one container through the hub, and goes on after breaks where it stopped. */
import { streamLimits } from '../limits-table.ts'
import type { BrowserClock } from './browser-clock.ts'
import { asHubError, type HubError } from './hub-error.ts'
import { logPath, type LogSource, type LogWish } from './log-path.ts'
import { cutLines, type LogTail } from './log-tail.ts'

export interface FollowDeps {
  readonly clock: BrowserClock
  readonly ask: (path: string, signal: AbortSignal) => Promise<Response>
  readonly onChange: () => void
  readonly onError: (source: string, error: HubError | undefined) => void
  /** The text of a mark in the lines. */
  readonly gapText: string
}

/** Ends with the log, or when it is aborted; a break of the way is mended, and marked. */
export async function followLog(
  tail: LogTail,
  { source, wish }: { source: LogSource; wish: LogWish },
  deps: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const answer = await deps.ask(logPath(source, wish, tail.resumeTime(source.name)), signal)
      deps.onError(source.name, undefined)
      await readLines(answer, (line) => tail.add(source.name, line), deps.onChange)
      // The container has ended, and its log with it.
      return
    } catch (thrown) {
      if (signal.aborted) return
      const error = asHubError(thrown)
      deps.onError(source.name, error)
      if (!wish.isFollowing || !error.isAway) return
      if (tail.resumeTime(source.name) !== undefined && failures === 0) {
        tail.addGap(source.name, deps.gapText)
        deps.onChange()
      }
    }
    await pause(deps.clock, Math.min(streamLimits.reconnectMsMax, 1_000 * 2 ** failures), signal)
  }
}

async function readLines(
  answer: Response,
  onLine: (line: string) => void,
  onChange: () => void,
): Promise<void> {
  const { body } = answer
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const cut = cutLines(rest, value)
    rest = cut.rest
    for (const line of cut.lines) onLine(line)
    onChange()
  }
  if (rest !== '') onLine(rest)
  onChange()
}

function pause(clock: BrowserClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, resolve)
    const onAbort = (): void => {
      timer.cancel()
      resolve()
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
