import type { Duplex } from 'node:stream'
import { sharedFeatures } from '../frame/tunnel-features.ts'
import {
  linkHeadBytes,
  type LinkListener,
  type OnPiece,
  type TunnelLink,
} from '../frame/tunnel-link.ts'
import {
  WebSocketEndpoint,
  type EndpointEvents,
  type EndpointOptions,
} from './web-socket-endpoint.ts'
import { closeCodes, WebSocketFault } from './web-socket-fault.ts'

export interface LinkHandshake extends EndpointOptions {
  /** The other end's header that names what it knows. */
  readonly featuresText: string | undefined
}

/** Returns a link over a socket whose handshake is done. */
export function webSocketLink(socket: Duplex, handshake: LinkHandshake): TunnelLink {
  return new WebSocketLink(socket, handshake)
}

/** A class, because a hub holds thousands of links: closures and getters per link would double its memory. */
class WebSocketLink implements TunnelLink, EndpointEvents {
  readonly closed: Promise<string>
  readonly features: NonNullable<TunnelLink['features']>
  readonly #endpoint: WebSocketEndpoint
  readonly #socket: Duplex & { readonly bytesRead?: number }
  #brokenRule: string | undefined
  #bytesIn = 0
  #bytesOut = 0
  #listener: LinkListener | undefined
  #receiver: OnPiece | undefined
  #onEnded: ((reason: string) => void) | undefined

  constructor(socket: Duplex, handshake: LinkHandshake) {
    // Sockets and TLS connections count the bytes that they read; a bare stream does not.
    this.#socket = socket
    this.features = sharedFeatures(handshake.featuresText)
    this.#endpoint = new WebSocketEndpoint(socket, handshake, this)
    this.closed = new Promise((resolve) => (this.#onEnded = resolve))
  }

  get bytesHeard(): number {
    return this.#socket.bytesRead ?? 0
  }
  get brokenRule(): string | undefined {
    return this.#brokenRule
  }
  get bytesIn(): number {
    return this.#bytesIn
  }
  get bytesOut(): number {
    return this.#bytesOut
  }

  send(bytes: Buffer, onSent: () => void): void {
    if (this.#endpoint.isOpen) this.#bytesOut += bytes.length - linkHeadBytes
    this.#endpoint.send(bytes, onSent)
  }

  receive(onPiece: OnPiece): void {
    this.#receiver = onPiece
    this.#endpoint.start()
  }

  listen(listener: LinkListener): void {
    this.#listener = listener
  }

  ping(payload: string): void {
    this.#endpoint.ping(Buffer.from(payload, 'latin1'))
  }

  close(reason: string): void {
    this.#endpoint.close(closeCodes.goingAway, reason)
  }

  terminate(): void {
    this.#endpoint.terminate()
  }

  onPiece(piece: Buffer, isLast: boolean): void {
    this.#listener?.onHeard()
    this.#bytesIn += piece.length
    this.#receiver?.(piece, isLast)
  }

  onPing(payload: Buffer): void {
    this.#listener?.onHeard()
    this.#listener?.onPing?.(payload.toString('latin1'))
  }

  onPong(payload: Buffer): void {
    this.#listener?.onHeard()
    this.#listener?.onPong(payload.toString('latin1'))
  }

  onClosed(code: number, text: string, fault: Error | undefined): void {
    if (fault instanceof WebSocketFault) this.#brokenRule = fault.message
    this.#onEnded?.(reasonOf(code, text, fault))
  }
}

function reasonOf(code: number, text: string, fault: Error | undefined): string {
  if (fault) return `connection failed: ${fault.message}`
  if (text !== '') return text
  return code === closeCodes.cut ? 'connection was cut' : `closed with code ${code}`
}
