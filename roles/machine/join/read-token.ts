import { ExpectedError, exitCodes } from '@skerry/base'
import { machineBounds } from '../limits-table.ts'

/**
 * Reads a token from standard input, where no other user of the machine sees it. Rejects with an ExpectedError if it
 * is not there.
 */
export async function readTokenFrom(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = ''
  for await (const piece of input) {
    text += typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8')
    if (text.includes('\n') || text.length > machineBounds.readToken.inputBytesMax) break
  }
  const token = (text.trim().split('\n')[0] ?? '').trim()
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)) return token
  const why = token === '' ? 'is empty' : 'has no token (six characters, a dot, sixteen characters)'
  throw new ExpectedError(`Cannot join: standard input ${why}`, exitCodes.usage)
}
