import { ExpectedError, exitCodes, runAll, type LinkedSignal } from '@skerry/base'

interface Watching {
  /** Keeps the objects present while somebody follows them. */
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Ends when the watch is over. */
  readonly follow: () => Promise<void>
  readonly scope: LinkedSignal
  /** Names the subject of the watch in messages, such as `edge job next`. */
  readonly subject: string
}

/** Follows objects to their end. Throws an ExpectedError if the person stops it before, which changes nothing. */
export async function watchUntil(
  { run, follow, scope, subject }: Watching,
  signal: AbortSignal,
): Promise<void> {
  await runAll(scope.signal, [
    run,
    async () => {
      await follow()
      scope.abort(new Error('the watch is over'))
    },
  ])
  if (!signal.aborted) return
  const text = `Stopped watching ${subject}: the hub continues with it`
  throw new ExpectedError(text, exitCodes.failure)
}
