import type { Connect } from '@skerry/base'
import type { TunnelFeature } from './tunnel-features.ts'

/** The events of a link other than messages. */
export interface LinkListener {
  /** Called when anything came from the other end: a message, a ping, or an answer to ours. */
  onHeard(): void
  onPong(payload: string): void
  /** The other end pings; the link has answered. */
  onPing?(payload: string): void
}

/** Bytes of a message as they come, cut anywhere; the last piece of a message may be empty. */
export type OnPiece = (piece: Buffer, isLast: boolean) => void

/**
 * The free bytes before a message, in its memory: the link writes its own head there, so that nothing is
 * copied. The longest head of a WebSocket frame has this length.
 */
export const linkHeadBytes = 14

/**
 * One ordered, reliable connection of messages between hub and agent, with its own ping. The seam under the
 * tunnel: WebSocket in production (web-socket-link.ts), memory in a simulation.
 */
export interface TunnelLink {
  /** The optional features of the protocol that both ends know. If omitted, none. */
  readonly features?: ReadonlySet<TunnelFeature>
  /**
   * Sends a message, which follows `linkHeadBytes` free bytes. The link may change all of that memory until
   * it calls `onSent`: when the kernel has taken the message, or never will.
   */
  send(bytes: Buffer, onSent: () => void): void
  /** Sets the only receiver; nothing is read before that. */
  receive(onPiece: OnPiece): void
  /** All bytes that have arrived, including those of an incomplete message. */
  readonly bytesHeard: number
  /** Bytes of messages. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** Sets the only listener; it misses nothing if set in the same turn in which the link was created. */
  listen(listener: LinkListener): void
  /** Sends at most 125 bytes of ASCII. */
  ping(payload: string): void
  /** Closes with the reason. */
  close(reason: string): void
  /** Ends at once, without the other end's cooperation. */
  terminate(): void
  /**
   * The rule of the link's own protocol that the other end broke. If omitted, it broke none, or such a link
   * cannot know.
   */
  readonly brokenRule?: string | undefined
  /** Resolves with the reason of the end; never rejects. */
  readonly closed: Promise<string>
}

export interface TunnelEndpoint {
  /** The URL, such as wss://hub.example:443/tunnel. */
  url: string
  headers?: Readonly<Record<string, string>>
  tls?: TunnelTls
  /** Connects to the hub, for example through a proxy. If omitted, over TCP. */
  connect?: Connect
}

export interface TunnelTls {
  /** The trusted authorities, as PEM. If omitted, the system's. */
  ca?: string
  cert?: string
  key?: string
  /** Name to expect in the hub's certificate when it is not the URL's. */
  serverName?: string
}

/** Dials the hub. Rejects with a cause that names the failed step. */
export type TunnelDial = (endpoint: TunnelEndpoint, signal: AbortSignal) => Promise<TunnelLink>
