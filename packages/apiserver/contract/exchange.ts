import type { IncomingMessage } from 'node:http'
import type { Duplex, Writable } from 'node:stream'
import type { UserInfo } from './access.ts'
import type { BodyShare } from './body-share.ts'

/** One request, wherever it came from: a socket (http-server.ts) or the same process (in-process-transport.ts). */
export interface ApiRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Lower-case names, one value each. */
  readonly headers: Readonly<Record<string, string>>
  /** Every header field as it came: those that may come twice are told apart only here. */
  readonly fields: () => readonly (readonly [name: string, value: string])[]
  readonly body: AsyncIterable<Uint8Array>
  /** The body's part in the bounds for bodies, and in the turns of large ones; omitted for callers in this process. */
  readonly held?: BodyShare
  /** Called with what a body of YAML says, which is too dear to be read twice. */
  readonly onYamlRead?: (value: unknown) => void
  readonly peer: Peer
  /** Where it came by HTTP/1.1, for those who hand its connection on. */
  readonly message?: IncomingMessage
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Aborts `signal` for another reason; absent where the signal belongs to somebody else. */
  readonly abort?: (reason: unknown) => void
}

/** What the connection itself says about the caller. */
export type Peer =
  | {
      readonly type: 'socket'
      readonly address: string
      readonly certificates: readonly Uint8Array[]
      /** What the client called the server when TLS began (RFC 6066, 3); absent or empty: nothing. */
      readonly serverName?: string
      /** A certificate was shown that the client CA did not sign. */
      readonly isCertificateBad: boolean
    }
  /** A caller in this process, already known. */
  | { readonly type: 'process'; readonly user: UserInfo }

/** The reader of an answer, on whose account the bytes wait. */
export interface ReaderOf {
  readonly user: string
  /** For as long as they like: others, who have nothing in this process but a piece, write as they read. */
  readonly mayStay: boolean
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: AnswerBody
  readonly reader?: ReaderOf
  /** The value of a body of YAML, so that nobody has to read it again. */
  readonly said?: unknown
  /** What follows the body; asked when it has ended. */
  readonly trailers?: () => Readonly<Record<string, string | readonly string[]>>
}

/** A client's connection after its upgrade request was read and before any answer was written. */
export interface ClientConnection {
  readonly socket: Duplex
  /** Bytes that arrived with the request head. */
  readonly head: Uint8Array
  /**
   * Writes a body to `out`, which passes it to the client, at the client's pace. What waits is counted as that of any
   * answer, and `out` is destroyed where it is too much. Never rejects.
   */
  readonly writeBody: (body: AnswerBody, out: Writable, reader: ReaderOf) => Promise<void>
}

/** Pieces are written in order; an async body may never end (watch, log). */
export type AnswerBody = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** A body that never waits to be asked: many readers of the same events are served in one go. */
export interface PushedBody extends AsyncIterable<Uint8Array> {
  pushTo(sink: BodySink): void
}

export interface BodySink {
  /** False: the reader takes no more; `onDrain` is called when it does again. */
  write(parts: readonly Uint8Array[]): boolean
  onDrain: () => void
  /** Nothing more comes. */
  end(): void
}

export function isPushed(body: AnswerBody): body is PushedBody {
  return 'pushTo' in body
}

const utf8 = new TextEncoder()

export function textAnswer(status: number, text: string): ApiAnswer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: utf8.encode(text),
  }
}

export function jsonAnswer(status: number, value: unknown): ApiAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: utf8.encode(`${JSON.stringify(value)}\n`),
  }
}

export const noBody = new Uint8Array(0)

export function isWhole(body: AnswerBody): body is Uint8Array {
  return body instanceof Uint8Array
}
