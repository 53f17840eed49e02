import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'
import type { UpgradeClient } from '../contract/subresource.ts'

/**
 * Sends a watch's answer over a WebSocket, for browsers; the answer's pieces are whole events. Owns
 * the socket; if the answer breaks off, the socket does too. Rejects with BadRequest for an invalid
 * handshake, and then leaves the socket to the caller.
 */
export async function openWatchSocket(
  answer: ApiAnswer,
  request: ApiRequest,
  client: UpgradeClient,
): Promise<void> {
  // Imported with the first WebSocket, because most servers never get one.
  const { serveWatchSocket } = await import('./watch-socket.ts')
  return serveWatchSocket(answer, request, client)
}
