import type { ClientRequest, IncomingMessage } from 'node:http'
import { PeerAnswerError } from './peer-answer.ts'

/**
 * The answer to a request that asks for no other protocol. Rejects with the request's error, and with PeerAnswerError
 * where the peer switches protocols all the same: Node ends such a request without an error, also when its signal
 * aborts. Call it in the turn in which the request was made.
 */
export function answerTo(outgoing: ClientRequest, peer: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new PeerAnswerError(peer, 'it switched protocols without being asked'))
    })
    // Stays after the answer: the connection's error then comes here, too, and reaches the reader by the body.
    outgoing.on('error', reject)
    outgoing.once('close', () => reject(new PeerAnswerError(peer, 'it closed the connection')))
  })
}
