import type { ClientRequest, IncomingMessage } from 'node:http'
import { answerTo } from './answer-to.ts'
import type { HeaderRecord } from './header-fields.ts'
import { PeerAnswerError, peerHeadOf } from './peer-answer.ts'

/** One request to a peer whose whole answer is kept in memory. */
export interface PeerQuestion {
  /** Names the peer in errors. */
  readonly peer: string
  /** Creates the request; called once per attempt. Its signal bounds the time. */
  readonly request: () => ClientRequest
  readonly body?: string | Uint8Array
  /** A longer body is an error. */
  readonly bytesMax: number
}

export interface PeerReply {
  /** From 200 to 599. */
  readonly status: number
  readonly headers: HeaderRecord
  readonly bytes: Buffer
}

/**
 * Sends the request and reads the whole answer. Rejects with PeerAnswerError if the answer is malformed or too long, or
 * with the request's error; the connection is then closed. If a reused connection ends without an answer, the peer had
 * closed it while it was idle: the request is sent again on another connection.
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

/** Each reused connection fails at most once, so retries end. */
function isStale(
  { reusedSocket, res }: ClientRequest & { res?: unknown },
  error: unknown,
): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return reusedSocket && !res && (code === 'ECONNRESET' || code === 'EPIPE')
}
