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
export function webSocketLink(webSocket: WebSocket, handshake: LinkHandshake): TunnelLink {
  return new WebSocketLink(webSocket, handshake)
}

/** A class, as a hub holds thousands: closures and getters of its own would be half of each. */
class WebSocketLink implements TunnelLink {
  readonly closed: Promise<string>
  readonly features: NonNullable<TunnelLink['features']>
  readonly #webSocket: WebSocket
  readonly #socket: LinkHandshake['socket']
  #bytesIn = 0
  #bytesOut = 0
  #listener: LinkListener | undefined
  #receiver: ((message: Buffer) => void) | undefined
  #early: Buffer[] | undefined
  #fault: Error | undefined

  constructor(webSocket: WebSocket, { socket, featuresText }: LinkHandshake) {
    this.#webSocket = webSocket
    this.#socket = socket
    this.features = sharedFeatures(featuresText)
    webSocket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    webSocket.on('ping', (payload) => {
      this.#listener?.onHeard()
      this.#listener?.onPing?.(payload.toString('latin1'))
    })
    webSocket.on('pong', (payload) => {
      this.#listener?.onHeard()
      this.#listener?.onPong(payload.toString('latin1'))
    })
    webSocket.on('error', (error) => (this.#fault = error))
    this.closed = new Promise((resolve) => {
      webSocket.on('close', (code, text) =>
        resolve(reasonOf(code, text.toString('utf8'), this.#fault)),
      )
    })
  }

  get bytesHeard(): number {
    return this.#socket.bytesRead
  }
  get bytesIn(): number {
    return this.#bytesIn
  }
  get bytesOut(): number {
    return this.#bytesOut
  }

  send(message: Uint8Array, onSent: () => void): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return onSent()
    this.#bytesOut += message.length
    // A failed send fails the socket, too.
    this.#webSocket.send(message, { binary: true }, onSent)
  }

  receive(onMessage: (message: Buffer) => void): void {
    this.#receiver = onMessage
    for (const message of this.#early ?? []) onMessage(message)
    this.#early = undefined
    this.#webSocket.resume()
  }

  listen(listener: LinkListener): void {
    this.#listener = listener
  }

  ping(payload: string): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping(payload)
  }

  close(reason: string): void {
    this.#webSocket.close(closeGoingAway, shortened(reason))
  }

  terminate(): void {
    this.#webSocket.terminate()
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    this.#listener?.onHeard()
    if (!isBinary) return this.#webSocket.close(closeUnsupportedData, 'text is not understood')
    const message = bufferOf(data)
    this.#bytesIn += message.length
    if (this.#receiver) return this.#receiver(message)
    this.#early ??= []
    this.#early.push(message)
    this.#webSocket.pause()
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
