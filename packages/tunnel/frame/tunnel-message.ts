import type { Duplex } from 'node:stream'
import { tunnelBounds } from '../limits-table.ts'

/** Headers by lower-case name; a name that occurs more than once has an array, in order. */
export type TunnelHeaders = Readonly<Record<string, string | readonly string[]>>

export type TunnelBody = AsyncIterable<Uint8Array>

/** Takes the pieces of a body that pushes. */
export interface PieceSink {
  /** Returns false if no more should come; `onDrain` is called when it should again. */
  write(parts: readonly Uint8Array[]): boolean
  onDrain: () => void
  /** Ends the body. */
  end(): void
}

/** A body that decides by itself when it writes, so that thousands of them take turns. */
export interface PushedPieces extends TunnelBody {
  pushTo(sink: PieceSink): void
}

export function isPushing(body: TunnelBody): body is PushedPieces {
  return 'pushTo' in body
}

/** A body that is present in one piece: code that checks for it needs neither a stream nor a wait. */
export class WholeBody implements AsyncIterable<Uint8Array> {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.bytes.length > 0) yield this.bytes
  }
}

export const wholeBytesMax = tunnelBounds.tunnelMessage.wholeBytesMax

export interface TunnelRequest {
  method: string
  /** The path with the query, already encoded. */
  path: string
  /** The headers; hop-by-hop ones are dropped on the way, see hygiene in tunnel-headers.ts. */
  headers: TunnelHeaders
  body?: TunnelBody | Uint8Array
}

export interface TunnelResponse {
  status: number
  headers: TunnelHeaders
  body: TunnelBody
}

/** The far side took the upgrade: bytes in both directions, each ends on its own. */
export interface TunnelSwitched {
  status: 101
  headers: TunnelHeaders
  stream: Duplex
}

/** An upgrade that the far side refused is an ordinary answer. */
export type TunnelUpgraded = TunnelSwitched | TunnelResponse

export function isSwitched(answer: TunnelUpgraded): answer is TunnelSwitched {
  return 'stream' in answer
}

/** A stream was reset by the other end, or the tunnel ended under it. */
export class TunnelStreamError extends Error {
  override name = 'TunnelStreamError'
}

/** The tunnel has ended. A request that fails with `isSent: false` never left and may be repeated. */
export class TunnelClosedError extends Error {
  override name = 'TunnelClosedError'
  readonly isSent: boolean
  constructor(reason: string, options: ErrorOptions & { isSent: boolean }) {
    super(`Cannot use tunnel: ${reason}`, options)
    this.isSent = options.isSent
  }
}

/** The tunnel has all the streams open that it may have. Nothing was sent. */
export class TunnelBusyError extends Error {
  override name = 'TunnelBusyError'
}
