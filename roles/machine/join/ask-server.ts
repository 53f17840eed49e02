import { ExpectedError, exitCodes, messageOf, type Connect } from '@skerry/base'
import { readServerTime } from '@skerry/client'
import type { JoinDeps } from './own-machine.ts'

/**
 * Asks a server that is not trusted yet for its time, since certificates seem to be wrong where a clock is: it only
 * helps to explain. Resolves with milliseconds since the Unix epoch, or undefined if the server did not say; rejects with
 * an ExpectedError if it does not answer.
 */
export async function askServerTime(
  { server, connect }: { readonly server: string; readonly connect: Connect },
  { clock, signal }: Pick<JoinDeps, 'clock' | 'signal'>,
): Promise<number | undefined> {
  try {
    return await readServerTime({ server, connect }, { clock }, signal)
  } catch (cause) {
    signal.throwIfAborted()
    const text = `Cannot join ${server}: it does not answer: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.unreachable, { cause })
  }
}
