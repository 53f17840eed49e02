import { Writable } from 'node:stream'
import { StatusError } from '@skerry/api'
import { acceptHandshake, HandshakeError, whenAborted } from '@skerry/base'
import { WebSocketServer, type WebSocket } from 'ws'
import { bearerProtocolPrefix } from '../authn/bearer-token.ts'
import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'
import type { UpgradeClient } from '../contract/subresource.ts'
import { apiServerBounds } from '../limits-table.ts'

const { messageBytesMax } = apiServerBounds.watchSocket
const newline = 10

/**
 * Serves a watch as WebSocket messages, one event each, over the subprotocol that the client named
 * first. Owns the socket. Resolves when the watch has ended or the client is gone. Throws
 * BadRequest for an invalid handshake, before anything is written.
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
      // A token among the protocols is for this server alone and is not repeated.
      return [...protocols].find((each) => !each.startsWith(bearerProtocolPrefix)) ?? false
    },
  })
  const webSocket = await accepted(server, { request: message, ...client })
  // A broken socket just closes.
  webSocket.on('error', () => undefined)
  const out = messagesTo(webSocket)
  // The client is gone, or may no longer watch.
  whenAborted(signal, () => out.destroy())
  await client.writeBody(body, out)
}

/** The caller answers and logs an invalid handshake. */
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

/**
 * Takes lines in pieces of any length. Each line becomes a message, each piece a frame (RFC 6455,
 * section 5.4).
 */
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
      // A partial event must never look like a whole message.
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

/** Resolves when the socket has taken the frame. Rejects if the socket is closed. */
function sent(webSocket: WebSocket, frame: Buffer, fin: boolean): Promise<void> {
  return new Promise((resolve, reject) =>
    webSocket.send(frame, { binary: false, fin }, (error) => (error ? reject(error) : resolve())),
  )
}

/** Splits a piece into lines. The last line may continue in the next piece. */
function* linesOf(piece: Buffer): Generator<Buffer> {
  for (let at = 0; at < piece.length;) {
    const found = piece.indexOf(newline, at)
    const end = found < 0 ? piece.length : found + 1
    yield piece.subarray(at, end)
    at = end
  }
}
