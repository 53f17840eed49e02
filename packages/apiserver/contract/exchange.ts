import type { IncomingMessage } from 'node:http'
import type { Duplex, Writable } from 'node:stream'
import type { UserInfo } from './access.ts'
import type { BodyShare } from './body-share.ts'

/** One request, either from a socket (http-server.ts) or from the same process (in-process-transport.ts). */
export interface ApiRequest {
  readonly method: string
  /** The path and query as sent. */
  readonly target: string
  /** Lower-case names, one value each. */
  readonly headers: Readonly<Record<string, string>>
  /** Returns every header field as received. Only here are repeated fields separate. */
  readonly fields: () => readonly (readonly [name: string, value: string])[]
  readonly body: AsyncIterable<Uint8Array>
  /**
   * Accounts for the body's memory, and for the turns of large bodies. Omitted for callers in this
   * process.
   */
  readonly held?: BodyShare
  /** Called with the value of a YAML body, which is too expensive to parse twice. */
  readonly onYamlRead?: (value: unknown) => void
  readonly peer: Peer
  /** The number of requests on the same HTTP/2 connection that are not over, this one included. */
  readonly streams?: number
  /** The message of an HTTP/1.1 request, for handlers that hand its connection on. */
  readonly message?: IncomingMessage
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Aborts `signal` for another reason. Omitted if the signal belongs to another owner. */
  readonly abort?: (reason: unknown) => void
}

/** The caller's identity according to its connection. */
export type Peer =
  | {
      readonly type: 'socket'
      readonly address: string
      readonly certificates: readonly Uint8Array[]
      /**
       * The server name that the client sent in TLS (RFC 6066, section 3). Omitted or empty if it
       * sent none.
       */
      readonly serverName?: string
      /** True if the client showed a certificate that the client CA did not sign. */
      readonly isCertificateBad: boolean
    }
  /** A caller in this process, whose identity is known. */
  | { readonly type: 'process'; readonly user: UserInfo }

/** The reader of an answer, whose user is charged for unread bytes. */
export interface ReaderOf {
  readonly user: string
  /**
   * True if the reader may be idle for any time: only one piece of such an answer is in this
   * process, because its source writes at the reader's pace.
   */
  readonly mayStay: boolean
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: AnswerBody
  readonly reader?: ReaderOf
  /** The value of a YAML body, so that nobody has to parse it again. */
  readonly said?: unknown
  /** Returns the trailers after the body. Called when the body has ended. */
  readonly trailers?: () => Readonly<Record<string, string | readonly string[]>>
}

/** A client's connection after its upgrade request was read, and before any answer is written. */
export interface ClientConnection {
  readonly socket: Duplex
  /** The bytes that arrived with the request head. */
  readonly head: Uint8Array
  /**
   * Writes a body to `out`, which passes it to the client at the client's pace. Waiting bytes are
   * counted like those of any answer, and `out` is destroyed if there are too many. Never rejects.
   */
  readonly writeBody: (body: AnswerBody, out: Writable, reader: ReaderOf) => Promise<void>
}

/** Pieces are written in order. An async body may never end (watch, log). */
export type AnswerBody = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** A body that pushes: many readers of the same events are served in one go. */
export interface PushedBody extends AsyncIterable<Uint8Array> {
  pushTo(sink: BodySink): void
}

export interface BodySink {
  /** Returns false if the reader takes no more; `onDrain` is called when it does again. */
  write(parts: readonly Uint8Array[]): boolean
  onDrain: () => void
  /** Ends the body. */
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
