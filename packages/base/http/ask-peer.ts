import type { ClientRequest, IncomingMessage } from 'node:http'
import { answerTo } from './answer-to.ts'
import type { HeaderRecord } from './header-fields.ts'
import { PeerAnswerError, peerHeadOf } from './peer-answer.ts'

/** A question to a server of somebody else's, whose answer is read as a whole. */
export interface PeerQuestion {
  /** What it is called in messages. */
  readonly peer: string
  /** Makes the request, again for each try. Its signal bounds the time. */
  readonly request: () => ClientRequest
  readonly body?: string | Uint8Array
  /** Of the answer's body; what is longer is an error. */
  readonly bytesMax: number
}

export interface PeerReply {
  /** From 200 to 599. */
  readonly status: number
  readonly headers: HeaderRecord
  readonly bytes: Buffer
}

/**
 * Asks, and reads the answer. Rejects with PeerAnswerError for an answer that is none or too long, and with the
 * request's error; the connection is not used again then. Where a kept connection ends without an answer, the peer is
 * asked again on another one: it had closed it before.
 */
export async function askPeer(question: PeerQuestion): Promise<PeerReply> {
  const { peer, request, body } = question
  for (;;) {
    const outgoing = request()
    const answered = answerTo(outgoing, peer)
    outgoing.end(body)
    try {
      return await readReply(await answered, outgoing.method, question)
    } catch (error) {
      outgoing.destroy()
      if (!isStale(outgoing, error)) throw error
    }
  }
}

async function readReply(
  answer: IncomingMessage,
  method: string,
  { peer, bytesMax }: PeerQuestion,
): Promise<PeerReply> {
  const { status, headers, hasBody } = peerHeadOf(answer, { peer, method })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > bytesMax) throw new PeerAnswerError(peer, `it is longer than ${bytesMax} bytes`)
    chunks.push(bytes)
  }
  return { status, headers, bytes: hasBody ? Buffer.concat(chunks) : Buffer.alloc(0) }
}

/** A kept connection can do so once: it is gone then. */
function isStale(
  { reusedSocket, res }: ClientRequest & { res?: unknown },
  error: unknown,
): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return reusedSocket && !res && (code === 'ECONNRESET' || code === 'EPIPE')
}
