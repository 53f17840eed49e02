import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import { WebSocketServer, type WebSocket } from 'ws'
import { bearerProtocolPrefix } from '../authn/bearer-token.ts'
import { isWhole, type ApiAnswer, type ApiRequest } from '../contract/exchange.ts'

/** Clients of a watch have nothing to say. */
const messageBytesMax = 64 * 1024
const newline = 10

/**
 * A watch as WebSocket messages, one event each, over the subprotocol that the client named first.
 * Owns the socket; resolves when the watch has ended or the client is gone. Throws BadRequest, before
 * anything is written, for a handshake that is none.
 */
export async function serveWatchSocket(
  answer: ApiAnswer,
  { message }: ApiRequest,
  client: { socket: Duplex; head: Uint8Array },
): Promise<void> {
  if (!message) throw new StatusError('BadRequest', 'Upgrade request required')
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handleProtocols: (protocols) => {
      // A token among them is for this server alone, and is not repeated.
      return [...protocols].find((each) => !each.startsWith(bearerProtocolPrefix)) ?? false
    },
  })
  const webSocket = await new Promise<WebSocket>((resolve, reject) => {
    // Whoever called answers it, and writes it down.
    server.once('wsClientError', ({ message: why }: Error) =>
      reject(new StatusError('BadRequest', `Cannot open WebSocket: ${why}`)),
    )
    server.handleUpgrade(message, client.socket, Buffer.from(client.head), resolve)
  })
  // A socket that breaks closes, and that is all there is to it.
  webSocket.on('error', () => undefined)
  for await (const line of linesOf(answer)) if (!(await sent(webSocket, line))) break
  webSocket.close(1000)
}

/** At the client's pace; false when it is gone. */
function sent(webSocket: WebSocket, line: Uint8Array): Promise<boolean> {
  if (webSocket.readyState !== webSocket.OPEN) return Promise.resolve(false)
  return new Promise((resolve) =>
    webSocket.send(line, { binary: false }, (error) => resolve(!error)),
  )
}

/** Pieces of an answer are whole events, several at a time. */
async function* linesOf({ body }: ApiAnswer): AsyncGenerator<Uint8Array> {
  const pieces = isWhole(body) ? [body] : body
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const found = piece.indexOf(newline, at)
      const end = found < 0 ? piece.length : found + 1
      yield piece.subarray(at, end)
      at = end
    }
  }
}
