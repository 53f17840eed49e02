import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { sharedFeatures } from './tunnel-features.ts'
import type { LinkListener, TunnelLink } from './tunnel-link.ts'

/** How long a close waits for the other end's; for both ends' WebSocket options. */
export const closeOptions = Object.freeze({ closeTimeout: 5_000 })
const closeReasonBytesMax = 123
const closeGoingAway = 1_001
const closeUnsupportedData = 1_003

export interface LinkHandshake {
  readonly socket: Pick<Socket, 'bytesRead'>
  /** The other end's header that names what it knows. */
  readonly featuresText: string | undefined
}

/**
 * Attach in the very turn in which the WebSocket opened: what arrives before that would be lost.
 */
export function webSocketLink(
  webSocket: WebSocket,
  { socket, featuresText }: LinkHandshake,
): TunnelLink {
  const bytes = { in: 0, out: 0 }
  let listener: LinkListener | undefined
  let receiver: ((message: Buffer) => void) | undefined
  let early: Buffer[] = []
  let fault: Error | undefined
  webSocket.on('message', (data, isBinary) => {
    listener?.onHeard()
    if (!isBinary) return webSocket.close(closeUnsupportedData, 'text is not understood')
    const message = bufferOf(data)
    bytes.in += message.length
    if (receiver) return receiver(message)
    early.push(message)
    webSocket.pause()
  })
  webSocket.on('ping', (payload) => {
    listener?.onHeard()
    listener?.onPing?.(payload.toString('latin1'))
  })
  webSocket.on('pong', (payload) => {
    listener?.onHeard()
    listener?.onPong(payload.toString('latin1'))
  })
  webSocket.on('error', (error) => (fault = error))
  const closed = new Promise<string>((resolve) => {
    webSocket.on('close', (code, text) => resolve(reasonOf(code, text.toString('utf8'), fault)))
  })
  return {
    closed,
    features: sharedFeatures(featuresText),
    get bytesHeard() {
      return socket.bytesRead
    },
    get bytesIn() {
      return bytes.in
    },
    get bytesOut() {
      return bytes.out
    },
    send(message, onSent) {
      if (webSocket.readyState !== webSocket.OPEN) return onSent()
      bytes.out += message.length
      // A failed send fails the socket, too.
      webSocket.send(message, { binary: true }, onSent)
    },
    receive(onMessage) {
      receiver = onMessage
      for (const message of early) onMessage(message)
      early = []
      webSocket.resume()
    },
    listen: (next) => (listener = next),
    ping: (payload) => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.ping(payload)
    },
    close: (reason) => webSocket.close(closeGoingAway, shortened(reason)),
    terminate: () => webSocket.terminate(),
  }
}

function bufferOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}

function reasonOf(code: number, text: string, fault: Error | undefined): string {
  if (fault) return `connection failed: ${fault.message}`
  if (text !== '') return text
  return code === 1_006 ? 'connection was cut' : `closed with code ${code}`
}

/** Cut between characters: a close frame carries at most 123 bytes of UTF-8 (RFC 6455, 5.5). */
function shortened(reason: string): string {
  let text = reason
  while (Buffer.byteLength(text) > closeReasonBytesMax) text = text.slice(0, -1)
  return text.toWellFormed()
}
