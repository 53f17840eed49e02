import { Writable } from 'node:stream'
import { StatusError } from '@skerry/api'
import { acceptHandshake, HandshakeError, whenAborted } from '@skerry/base'
import { WebSocketServer, type WebSocket } from 'ws'
import { bearerProtocolPrefix } from '../authn/bearer-token.ts'
import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'
import type { UpgradeClient } from '../contract/subresource.ts'
import { apiServerBounds } from '../contract/limits-table.ts'

const { messageBytesMax } = apiServerBounds.watchSocket
const newline = 10

/**
 * A watch as WebSocket messages, one event each, over the subprotocol that the client named first.
 * Owns the socket; resolves when the watch has ended or the client is gone. Throws BadRequest, before
 * anything is written, for a handshake that is none.
 */
export async function serveWatchSocket(
  { body }: ApiAnswer,
  { message, signal }: ApiRequest,
  client: UpgradeClient,
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
  const webSocket = await accepted(server, { request: message, ...client })
  // A socket that breaks closes, and that is all there is to it.
  webSocket.on('error', () => undefined)
  const out = messagesTo(webSocket)
  // The client is gone, or may no longer watch.
  whenAborted(signal, () => out.destroy())
  await client.writeBody(body, out)
}

/** Whoever called answers a handshake that is none, and writes it down. */
async function accepted(
  server: WebSocketServer,
  client: Parameters<typeof acceptHandshake>[1],
): Promise<WebSocket> {
  try {
    return await acceptHandshake(server, client)
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error
    throw new StatusError('BadRequest', error.message, { cause: error })
  }
}

/** Takes lines in pieces of any length; each line becomes a message, in a frame a piece (RFC 6455, 5.4). */
function messagesTo(webSocket: WebSocket): Writable {
  let isWithinMessage = false
  const sendFrame = async (frame: Buffer): Promise<void> => {
    const isEnd = frame.at(-1) === newline
    isWithinMessage = !isEnd
    await sent(webSocket, frame, isEnd)
  }
  const out = new Writable({
    write(piece: Buffer, _encoding, taken) {
      sendEach(linesOf(piece), sendFrame).then(
        () => taken(),
        () => void out.destroy(),
      )
    },
    final(ended) {
      // An event of which the rest was given up is never a message.
      if (isWithinMessage) webSocket.terminate()
      else webSocket.close(1000)
      ended()
    },
    destroy(error, destroyed) {
      webSocket.terminate()
      destroyed(error)
    },
  })
  return out
}

async function sendEach(
  frames: Iterable<Buffer>,
  sendFrame: (frame: Buffer) => Promise<void>,
): Promise<void> {
  for (const frame of frames) await sendFrame(frame)
}

/** When the socket has taken it; rejects when that is closed. */
function sent(webSocket: WebSocket, frame: Buffer, fin: boolean): Promise<void> {
  return new Promise((resolve, reject) =>
    webSocket.send(frame, { binary: false, fin }, (error) => (error ? reject(error) : resolve())),
  )
}

/** The last one may go on in the next piece. */
function* linesOf(piece: Buffer): Generator<Buffer> {
  for (let at = 0; at < piece.length;) {
    const found = piece.indexOf(newline, at)
    const end = found < 0 ? piece.length : found + 1
    yield piece.subarray(at, end)
    at = end
  }
}
