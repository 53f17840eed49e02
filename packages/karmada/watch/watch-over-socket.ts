import type { Duplex } from 'node:stream'
import { isStatusError } from '@skerry/api'
import { openWatchSocket, type AuthorizedRequest, type ApiAnswer } from '@skerry/apiserver'
import type { TunnelHeaders, TunnelRequest } from '@skerry/tunnel'
import { isWatch } from './watch-request.ts'

/**
 * Whether this asks for a watch over WebSocket whose events are text. The hub asks the cluster for it as
 * for any other watch, so that it outlives a tunnel, and makes the messages itself.
 */
export function isSocketWatch({ request }: AuthorizedRequest, asked: TunnelRequest): boolean {
  const { upgrade = '', accept = '' } = request.headers
  return upgrade.toLowerCase() === 'websocket' && !/protobuf|cbor/.test(accept) && isWatch(asked)
}

/** The same over plain HTTP. */
export function withoutSocket(request: TunnelRequest): TunnelRequest {
  const kept = Object.entries(request.headers).filter(([name]) => !name.startsWith('sec-websocket'))
  const headers: TunnelHeaders = Object.fromEntries(kept)
  return { ...request, headers }
}

/** Until the watch ends or the client is gone; a watch that breaks off is not closed as one that ends. */
export async function serveSocketWatch(
  answer: ApiAnswer,
  { request, signal }: AuthorizedRequest,
  client: { socket: Duplex; head: Uint8Array },
): Promise<void> {
  try {
    await openWatchSocket(answer, request, client)
  } catch (error) {
    // A handshake that is none has not been answered yet.
    if (isStatusError(error, 'BadRequest')) throw error
    client.socket.destroy()
    if (!signal.aborted) throw error
  }
}
