import type { ClientRequest, IncomingMessage } from 'node:http'
import { PeerAnswerError } from './peer-answer.ts'

/**
 * Resolves with the answer to a request that does not switch protocols. Rejects with the request's
 * error, and with PeerAnswerError if the peer switches protocols nevertheless: Node ends such a
 * request without an error, even when its signal aborts. Call it in the turn in which the request
 * was created.
 */
export function answerTo(outgoing: ClientRequest, peer: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new PeerAnswerError(peer, 'it switched protocols without being asked'))
    })
    // This stays after the answer: the connection's error then arrives here, too, and reaches the
    // reader through the body.
    outgoing.on('error', reject)
    outgoing.once('close', () => reject(new PeerAnswerError(peer, 'it closed the connection')))
  })
}
