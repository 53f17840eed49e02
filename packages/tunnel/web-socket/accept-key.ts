import { createHash } from 'node:crypto'

/** The GUID of RFC 6455, 1.3. */
const websocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Returns a server's answer to the client's Sec-WebSocket-Key. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}${websocketGuid}`).digest('base64')
}
