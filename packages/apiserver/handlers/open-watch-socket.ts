import type { Duplex } from 'node:stream'
import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'

/**
 * A watch's answer over a WebSocket, as browsers ask for it; the answer's pieces are whole events. Owns the
 * socket; rejects when the answer breaks off, and leaves the socket to the caller then.
 */
export async function openWatchSocket(
  answer: ApiAnswer,
  request: ApiRequest,
  client: { socket: Duplex; head: Uint8Array },
): Promise<void> {
  // Imported with the first of them: most servers never see one.
  const { serveWatchSocket } = await import('./watch-socket.ts')
  return serveWatchSocket(answer, request, client)
}
