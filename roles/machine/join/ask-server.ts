import { request } from 'node:https'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { machineBounds } from '../limits-table.ts'

export interface SeenServer {
  /** The address of this machine on the way to the server. */
  readonly ownAddress: string
  /** The server's time, in milliseconds since the Unix epoch; undefined if it did not say. */
  readonly timeMs: number | undefined
}

/**
 * Asks a server that is not trusted yet for two things that only help to explain: the address by which this machine
 * reaches it, and its time, since certificates seem to be wrong where a clock is. Rejects with an ExpectedError.
 */
export async function askServer(server: string, signal: AbortSignal): Promise<SeenServer> {
  const { answerMs } = machineBounds.askServer
  try {
    return await new Promise<SeenServer>((resolve, reject) => {
      const asked = request(`${server}/healthz`, {
        method: 'HEAD',
        agent: false,
        rejectUnauthorized: false,
        timeout: answerMs,
        signal,
      })
      asked.once('timeout', () => asked.destroy(new Error(`no answer in ${answerMs / 1_000} s`)))
      asked.once('error', reject)
      asked.once('response', (answer) => {
        const timeMs = Date.parse(answer.headers.date ?? '')
        const ownAddress = answer.socket.localAddress ?? ''
        answer.destroy()
        resolve({ ownAddress, timeMs: Number.isNaN(timeMs) ? undefined : timeMs })
      })
      asked.end()
    })
  } catch (cause) {
    signal.throwIfAborted()
    const text = `Cannot join ${server}: it does not answer: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.unreachable, { cause })
  }
}
