import type { AuthorizedRequest } from '@skerry/apiserver'
import type { TunnelHeaders, TunnelRequest } from '@skerry/tunnel'
import { isWatch } from './watch-request.ts'

/**
 * Reports whether this requests a watch over WebSocket whose events are text. The hub requests it from the
 * cluster like any other watch, so that it outlives a tunnel, and makes the messages itself.
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
