import { ExpectedError, exitCodes, messageOf, type Connect } from '@skerry/base'
import { createHttpsTransport, readBody } from '@skerry/client'
import { machineBounds } from '../limits-table.ts'
import type { JoinDeps } from './own-machine.ts'

const { answerMs, bodyBytesMax } = machineBounds.askServer

/**
 * Asks a server that is not trusted yet for its time, since certificates seem to be wrong where a clock is: it only
 * helps to explain. Resolves with milliseconds since the Unix epoch, or undefined if the server did not say; rejects with
 * an ExpectedError if it does not answer.
 */
export async function askServerTime(
  { server, connect }: { readonly server: string; readonly connect: Connect },
  { clock, signal }: Pick<JoinDeps, 'clock' | 'signal'>,
): Promise<number | undefined> {
  const config = { server, connect, isTlsVerifySkipped: true, answerHeadTimeoutMs: answerMs }
  using transport = createHttpsTransport(config, { clock })
  try {
    const asked = { method: 'GET', path: '/healthz', headers: {} } as const
    const { headers, body } = await transport.send(asked, signal)
    await readBody(body, bodyBytesMax)
    const { date } = headers
    const timeMs = Date.parse(typeof date === 'string' ? date : '')
    return Number.isNaN(timeMs) ? undefined : timeMs
  } catch (cause) {
    signal.throwIfAborted()
    const text = `Cannot join ${server}: it does not answer: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.unreachable, { cause })
  }
}
