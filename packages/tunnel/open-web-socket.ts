import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { abortReason } from '@skerry/base'
import { WebSocket, type ClientOptions } from 'ws'
import { TunnelDialError } from './tunnel-dial-error.ts'
import { closeOptions } from './web-socket-link.ts'

export interface OpenWebSocketOptions<T> {
  /** ws: or wss:; the socket is already secured. */
  url: string
  protocol: string
  headers?: Readonly<Record<string, string>>
  messageBytesMax: number
  /** What is to be opened, for errors: `tunnel`. */
  what: string
  /** Called in the very turn in which it opened: frames may already be in the socket's buffer. */
  onOpen: (webSocket: WebSocket, headers: IncomingHttpHeaders) => T
}

/** The WebSocket handshake over an open connection. */
export function openWebSocket<T>(
  socket: Duplex,
  { url, protocol, headers, messageBytesMax, what, onOpen }: OpenWebSocketOptions<T>,
  signal: AbortSignal,
): Promise<T> {
  const options: ClientOptions & typeof closeOptions = {
    ...closeOptions,
    // A socket or a TLS connection in all but tests; ws asks for what only those have before it uses it.
    createConnection: () => socket as Socket,
    headers: { ...headers },
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    // Masks protect plain-text intermediaries from chosen bytes (RFC 6455, 10.3). Within TLS there
    // are none to protect, and a mask of zeros saves a pass over every byte.
    ...(url.startsWith('wss:') ? { generateMask: () => undefined } : {}),
  }
  const webSocket = new WebSocket(url, protocol, options)
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      webSocket.terminate()
      reject(abortReason(signal))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    webSocket.once('close', () => signal.removeEventListener('abort', onAbort))
    let answered: IncomingHttpHeaders = {}
    webSocket.once('upgrade', ({ headers }: IncomingMessage) => (answered = headers))
    webSocket.once('open', () => {
      signal.removeEventListener('abort', onAbort)
      resolve(onOpen(webSocket, answered))
    })
    webSocket.once('error', (cause) => {
      reject(new TunnelDialError(`Cannot open ${what}: ${cause.message}`, { cause }))
    })
    webSocket.once('unexpected-response', (_request, answer) => {
      reject(refusal(answer, { what, url }))
      webSocket.terminate()
    })
  })
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
