import type { Connect } from '@skerry/base'
import type { TunnelFeature } from './tunnel-features.ts'

/** What a tunnel hears from its link, besides messages. */
export interface LinkListener {
  /** Anything came from the other end: a message, a ping, an answer to ours. */
  onHeard(): void
  onPong(payload: string): void
  /** The other end pings; the link has answered. */
  onPing?(payload: string): void
}

/** Bytes of a message as they come, cut anywhere; the last piece of a message may be empty. */
export type OnPiece = (piece: Buffer, isLast: boolean) => void

/**
 * Room before a message, in its memory: the link writes its own head there, so that nothing is copied. The longest
 * head of a WebSocket frame has as much.
 */
export const linkHeadBytes = 14

/**
 * One ordered, reliable connection of messages between hub and agent with a ping of its own. The seam under
 * the tunnel: WebSocket in production (web-socket-link.ts), memory in a simulation.
 */
export interface TunnelLink {
  /** What of the protocol both ends know, beyond what all do; absent: nothing. */
  readonly features?: ReadonlySet<TunnelFeature>
  /**
   * Sends a message, which stands behind `linkHeadBytes` that are free. All of that memory is the link's, to be
   * changed, until `onSent` is called: when the kernel has taken the message, or will not any more.
   */
  send(bytes: Buffer, onSent: () => void): void
  /** One receiver; nothing is read before it is set. */
  receive(onPiece: OnPiece): void
  /** All bytes that arrived so far, also of a message that is not whole yet. */
  readonly bytesHeard: number
  /** Bytes of messages. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** One listener; it misses nothing when set in the turn that made the link. */
  listen(listener: LinkListener): void
  /** At most 125 bytes of ASCII. */
  ping(payload: string): void
  /** Says goodbye with the reason and ends. */
  close(reason: string): void
  /** Ends at once, without the other end's help. */
  terminate(): void
  /** What of the link's own protocol the other end broke; absent: it did not, or such a link cannot tell. */
  readonly brokenRule?: string | undefined
  /** Why it ended, in words; never rejects. */
  readonly closed: Promise<string>
}

export interface TunnelEndpoint {
  /** wss://hub.example:443/tunnel */
  url: string
  headers?: Readonly<Record<string, string>>
  tls?: TunnelTls
  /** The way there, e.g. by a proxy; absent: TCP. */
  connect?: Connect
}

export interface TunnelTls {
  /** PEM. Only these are trusted when set; the system's otherwise. */
  ca?: string
  cert?: string
  key?: string
  /** Name to expect in the hub's certificate when it is not the URL's. */
  serverName?: string
}

/** Dials the hub. Rejects with a cause that says which step failed. */
export type TunnelDial = (endpoint: TunnelEndpoint, signal: AbortSignal) => Promise<TunnelLink>
