import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'
import type { UpgradeClient } from '../contract/subresource.ts'

/**
 * A watch's answer over a WebSocket, as browsers ask for it; the answer's pieces are whole events. Owns the
 * socket; where the answer breaks off, the socket does too. Rejects with BadRequest for a handshake that is none, and
 * leaves the socket to the caller then.
 */
export async function openWatchSocket(
  answer: ApiAnswer,
  request: ApiRequest,
  client: UpgradeClient,
): Promise<void> {
  // Imported with the first of them: most servers never see one.
  const { serveWatchSocket } = await import('./watch-socket.ts')
  return serveWatchSocket(answer, request, client)
}
