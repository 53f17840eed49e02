import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { allowSilence } from '@skerry/base'
import { acceptKey } from './accept-key.ts'

/** The key is 16 bytes in base64. */
const keyShape = /^[+/0-9A-Za-z]{22}==$/

/** Reports whether it requests a WebSocket as defined in RFC 6455, 4.2.1. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    keyShape.test(headers['sec-websocket-key'] ?? '')
  )
}

/**
 * Answers what asksForWebSocket() holds true of; extensions are not taken. The socket then is a WebSocket's, with
 * nothing read yet of what follows the request.
 */
export function answerUpgrade(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  headers: Readonly<Record<string, string>>,
): void {
  if (socket instanceof Socket) {
    allowSilence(socket)
    socket.setNoDelay(true)
  }
  if (head.length > 0) socket.unshift(head)
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptKey(request.headers['sec-websocket-key'] ?? '')}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
}
