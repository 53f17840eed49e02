/** Follows the log of one container through the hub, and goes on after breaks where it stopped. */
import { followLimits, streamLimits } from '../../limits-table.ts'
import { readLines } from './answer-lines.ts'
import type { BrowserClock } from '../browser/browser-clock.ts'
import { asHubError, type HubError } from '../hub/hub-error.ts'
import { logPath, type LogSource, type LogWish } from './log-path.ts'
import type { LogTail } from './log-tail.ts'

export interface FollowDeps {
  readonly clock: BrowserClock
  readonly ask: (path: string, signal: AbortSignal) => Promise<Response>
  readonly onChange: () => void
  readonly onError: (source: string, error: HubError | undefined) => void
  /** The text of a mark in the lines. */
  readonly gapText: string
}

/** A log that ends so often in a row without a line has ended for good. */
const { endsMax } = followLimits

/**
 * Ends with the log, or when it is aborted; a container that starts is awaited, and a break of the way is mended, and marked. Some ways end a broken answer as if
 * the log had ended, so that a followed log is asked for again before its end is believed.
 */
export async function followLog(
  tail: LogTail,
  { source, wish }: { source: LogSource; wish: LogWish },
  deps: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name } = source
  let failures = 0
  let ends = 0
  while (!signal.aborted) {
    try {
      const answer = await deps.ask(logPath(source, wish, tail.resumeTime(name)), signal)
      deps.onError(name, undefined)
      failures = 0
      const before = tail.resumeTime(name)
      if (before !== undefined) tail.resume(name)
      await readLines(answer, { onLine: (line) => tail.add(name, line), onChange: deps.onChange })
      ends = tail.resumeTime(name) === before ? ends + 1 : 0
      if (!wish.isFollowing || wish.isPrevious || ends >= endsMax) return
    } catch (thrown) {
      if (signal.aborted) return
      const error = asHubError(thrown)
      deps.onError(name, error)
      if (!wish.isFollowing || wish.isPrevious) return
      if (isStarting(error)) {
        await pause(deps.clock, followLimits.startingMs, signal)
        continue
      }
      if (!error.isAway) return
      if (tail.resumeTime(name) !== undefined && failures === 0) {
        tail.addGap(name, deps.gapText)
        deps.onChange()
      }
      failures += 1
    }
    await pause(deps.clock, Math.min(streamLimits.reconnectMsMax, 1_000 * 2 ** failures), signal)
  }
}

/** A server answers so for a container that waits to start. */
function isStarting({ facts }: HubError): boolean {
  return facts.code === 400
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
