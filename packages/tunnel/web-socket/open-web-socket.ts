import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { abortReason, allowSilence, messageOf, requestOver } from '@skerry/base'
import { TunnelDialError } from './tunnel-dial-error.ts'
import { acceptKey } from './accept-key.ts'
import type { Masks } from './web-socket-endpoint.ts'

export interface OpenWebSocketOptions {
  /** A URL with ws: or wss:; the socket is already secured. */
  url: string
  protocol: string
  headers?: Readonly<Record<string, string>>
  /** The thing to open, for errors: `tunnel`. */
  what: string
}

/** The opened socket. Frames may already have come; nothing is read before an endpoint does. */
export interface OpenedWebSocket {
  readonly headers: IncomingHttpHeaders
  readonly masks: Masks
}

/** The client's WebSocket handshake (RFC 6455, 4.1) over an open connection; that is a WebSocket's then. */
export async function openWebSocket(
  socket: Duplex,
  options: OpenWebSocketOptions,
  signal: AbortSignal,
): Promise<OpenedWebSocket> {
  const { url, what, protocol } = options
  const key = randomBytes(16).toString('base64')
  const { type, response } = await requestOver(
    socket,
    requestOf(options, socket, key),
    signal,
  ).catch((cause: unknown) => {
    if (signal.aborted) throw abortReason(signal)
    throw new TunnelDialError(`Cannot open ${what}: ${messageOf(cause)}`, { cause })
  })
  if (type === 'response') {
    socket.destroy()
    throw refusal(response, { what, url })
  }
  const fault = faultOf(response, protocol, key)
  if (fault === undefined) {
    return { headers: response.headers, masks: url.startsWith('wss:') ? 'zeros' : 'random' }
  }
  socket.destroy()
  throw new TunnelDialError(`Cannot open ${what}: ${fault}`, {})
}

function requestOf({ url, protocol, headers }: OpenWebSocketOptions, socket: Duplex, key: string) {
  const { host, pathname, search } = new URL(url)
  if (socket instanceof Socket) {
    allowSilence(socket)
    socket.setNoDelay(true)
  }
  return {
    method: 'GET',
    path: `${pathname}${search}`,
    headers: {
      ...headers,
      host,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': protocol,
    },
  }
}

/** Returns why the response does not answer this request, or undefined if it does. */
function faultOf({ headers }: IncomingMessage, protocol: string, key: string): string | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'the answer is of no WebSocket'
  if (headers['sec-websocket-accept'] !== acceptKey(key)) return 'the answer is not to this request'
  if (headers['sec-websocket-protocol'] !== protocol)
    return `the other end does not speak ${protocol}`
  if (headers['sec-websocket-extensions'] !== undefined)
    return 'it selects extensions that were not offered'
  return undefined
}

function refusal(
  answer: IncomingMessage,
  { what, url }: { what: string; url: string },
): TunnelDialError {
  const status = answer.statusCode ?? 0
  const phrase = `${status} ${answer.statusMessage ?? ''}`.trimEnd()
  const isPage = /^text\/html\b/i.test(answer.headers['content-type'] ?? '')
  if (isPage || (status >= 200 && status < 400)) {
    const { host } = new URL(url)
    const text = `Cannot open ${what}: not the hub but something else answers at ${host}, with ${phrase}${isPage ? ' and a web page' : ''}; look for a captive portal to sign in at, or a proxy in between`
    return new TunnelDialError(text, { status })
  }
  const seconds = Number(answer.headers['retry-after'])
  const retryAfterMs = seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}
  return new TunnelDialError(`Cannot open ${what}: the hub answered ${phrase}`, {
    status,
    ...retryAfterMs,
  })
}
