import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { pipeline } from 'node:stream/promises'
import { abortReason, type Timer } from '@skerry/base'
import type { SessionDeps } from './agent-session.ts'
import { watchLink, type LinkHealth } from './link-health.ts'
import { governStreams, sessionOptions, type SessionStreams } from './session-window.ts'
import { duplexOf, readableOf } from './stream-adapter.ts'
import {
  assertTarget,
  parseHeaders,
  switchedHeader,
  upgradeHeader,
  wireHeaders,
  wireUpgradeHeaders,
} from './tunnel-headers.ts'
import { validateTunnelLimits, type TunnelLimits } from './tunnel-limits.ts'
import type { TunnelLink } from './tunnel-link.ts'
import { TunnelBusyError, TunnelClosedError, TunnelStreamError } from './tunnel-message.ts'
import type {
  TunnelHeaders,
  TunnelRequest,
  TunnelResponse,
  TunnelUpgraded,
} from './tunnel-message.ts'

export interface AcceptOptions {
  limits?: Partial<TunnelLimits>
}

/** The hub's end of one tunnel. Requests go to the agent, which answers from its side. */
export interface TunnelSession {
  /**
   * Resolves when the answer's headers are there; its body then comes as it is read. Give every
   * body to a reader or abort the signal: an unread one holds its stream. Rejects with
   * BadMessageError, TunnelBusyError, TunnelClosedError, TunnelStreamError or the signal's reason.
   */
  send(request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse>
  /** For a request with an `upgrade` header, e.g. SPDY/3.1 or websocket. */
  upgrade(request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded>
  /** Milliseconds there and back, measured now. */
  ping(signal: AbortSignal): Promise<number>
  readonly rttMs: number | undefined
  readonly bytesIn: number
  readonly bytesOut: number
  /** Open right now. */
  readonly streams: number
  /** Received and not yet read, in all streams. */
  readonly bufferedBytes: number
  /** False once it is closing: send() would be refused. */
  readonly isOpen: boolean
  /** Why it is closing or closed; absent while it is open. */
  readonly endReason: string | undefined
  /** Why it ended; never rejects. */
  readonly closed: Promise<string>
  /** Ends it at once. */
  close(reason: string): void
  /** Lets open streams finish for at most `drainMs`; the agent dials anew meanwhile. */
  drain(reason: string): void
}

/** Takes a link that an agent dialled. Call it in the turn in which the link was made. */
export function acceptTunnel(
  link: TunnelLink,
  options: AcceptOptions,
  deps: SessionDeps,
): TunnelSession {
  return new HubSession(link, validateTunnelLimits(options.limits), deps)
}

class HubSession implements TunnelSession {
  readonly closed: Promise<string>
  readonly #link: TunnelLink
  readonly #limits: TunnelLimits
  readonly #deps: SessionDeps
  readonly #session: ClientHttp2Session
  readonly #streams: SessionStreams
  readonly #health: LinkHealth
  #reason: string | undefined
  #drainTimer: Timer | undefined

  constructor(link: TunnelLink, limits: TunnelLimits, deps: SessionDeps) {
    this.#link = link
    this.#limits = limits
    this.#deps = deps
    const createConnection = () => link.stream
    this.#session = connect('http://tunnel', { ...sessionOptions(limits), createConnection })
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(limits.sessionWindowBytes)
    })
    this.#streams = governStreams(this.#session, limits)
    link.stream.on('data', (chunk: Uint8Array) => this.#streams.onBytes(chunk.length))
    this.#session.on('error', (error) => this.#end(`protocol failed: ${error.message}`))
    this.#session.on('goaway', () => (this.#reason ??= 'the agent is leaving'))
    this.#health = watchLink(link, limits, deps.clock, (ms) =>
      this.#end(`nothing heard for ${Math.round(ms / 1_000)} s`),
    )
    this.closed = link.closed.then((linkReason) => this.#onLinkClosed(linkReason))
  }

  get rttMs(): number | undefined {
    return this.#health.rttMs
  }
  get bytesIn(): number {
    return this.#link.bytesIn
  }
  get bytesOut(): number {
    return this.#link.bytesOut
  }
  get streams(): number {
    return this.#streams.count
  }
  get bufferedBytes(): number {
    return this.#streams.bufferedBytes
  }
  get endReason(): string | undefined {
    return this.#reason
  }
  get isOpen(): boolean {
    return this.#reason === undefined && !this.#session.closed && !this.#session.destroyed
  }

  async send(request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse> {
    const { body } = request
    const stream = this.#open(request, { endStream: body === undefined, extra: [] }, signal)
    if (body instanceof Uint8Array) stream.end(body)
    else if (body !== undefined) sendBody(body, stream)
    const answerBody = readableOf(stream, (cause) => this.#streamFault(stream, signal, cause))
    const { status, headers } = await this.#answer(stream, signal)
    return { status, headers, body: answerBody }
  }

  async upgrade(request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded> {
    const protocol = request.headers['upgrade']
    if (typeof protocol !== 'string') {
      throw new RangeError('Cannot upgrade: the request names no protocol')
    }
    const extra = [upgradeHeader, protocol]
    const stream = this.#open(request, { endStream: false, extra }, signal)
    const bytes = duplexOf(stream, (cause) => this.#streamFault(stream, signal, cause))
    const { status, headers: all } = await this.#answer(stream, signal)
    const { [switchedHeader]: switched, ...headers } = all
    if (typeof switched === 'string') {
      const upgraded = { ...headers, connection: 'Upgrade', upgrade: switched }
      return { status: 101, headers: upgraded, stream: bytes }
    }
    bytes.end()
    return { status, headers, body: bytes }
  }

  ping(signal: AbortSignal): Promise<number> {
    return this.#health.ping(signal)
  }

  close(reason: string): void {
    this.#reason ??= reason
    this.#link.close(reason)
    this.#session.destroy()
  }

  drain(reason: string): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#link.sayAtEnd(reason)
    // Stream 0: the agent opens none.
    this.#session.goaway(constants.NGHTTP2_NO_ERROR, 0, Buffer.from(reason))
    this.#session.close()
    this.#drainTimer = this.#deps.clock.setTimer(this.#limits.drainMs, () => this.close(reason))
  }

  #open(
    request: TunnelRequest,
    options: { endStream: boolean; extra: readonly string[] },
    signal: AbortSignal,
  ): ClientHttp2Stream {
    signal.throwIfAborted()
    if (!this.isOpen) throw new TunnelClosedError(this.#reason ?? 'it ended', { isSent: false })
    const { streamsMax } = this.#limits
    if (this.#streams.count >= streamsMax) {
      throw new TunnelBusyError(
        `Cannot send request: ${streamsMax} streams are open in this tunnel`,
      )
    }
    const { method, path } = request
    assertTarget(method, path, this.#limits)
    const { host = 'tunnel' } = request.headers
    const authority = typeof host === 'string' ? host : 'tunnel'
    const target = [':method', method, ':path', path, ':scheme', 'http', ':authority', authority]
    const isUpgrade = options.extra.length > 0
    const headersOf = isUpgrade ? wireUpgradeHeaders : wireHeaders
    const flat = [...target, ...headersOf(request.headers, this.#limits), ...options.extra]
    const stream = this.#session.request(flat, { endStream: options.endStream })
    this.#streams.add(stream)
    followSignal(stream, signal)
    return stream
  }

  #answer(
    stream: ClientHttp2Stream,
    signal: AbortSignal,
  ): Promise<{ status: number; headers: TunnelHeaders }> {
    return new Promise((resolve, reject) => {
      let fault: Error | undefined
      let isAnswered = false
      // Kept for the stream's life: without a listener a late reset would end the process.
      stream.on('error', (error) => (fault ??= error))
      stream.once('close', () => {
        // Every stream closes; an error for each, with its stack, would be a tenth of a request.
        if (!isAnswered) reject(this.#streamFault(stream, signal, fault))
      })
      stream.once('response', (_headers, _flags, flat) => {
        isAnswered = true
        try {
          const { pseudo, headers } = parseHeaders(flat, this.#limits)
          resolve({ status: Number(pseudo.get(':status')), headers })
        } catch (error) {
          stream.close(constants.NGHTTP2_CANCEL)
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
  }

  #streamFault(stream: ClientHttp2Stream, signal: AbortSignal, cause?: Error): Error {
    if (signal.aborted) return abortReason(signal)
    const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    const options = cause ? { cause } : {}
    if (!this.isOpen || isRefused) {
      const reason = this.#reason ?? (isRefused ? 'the agent refused the stream' : 'it ended')
      return new TunnelClosedError(reason, { ...options, isSent: !isRefused })
    }
    const text = `Cannot read answer: the agent reset the stream (code ${stream.rstCode})`
    return new TunnelStreamError(text, options)
  }

  #end(reason: string): void {
    this.#reason ??= reason
    this.#session.destroy()
    this.#link.terminate()
  }

  #onLinkClosed(linkReason: string): string {
    this.#reason ??= linkReason
    this.#health[Symbol.dispose]()
    this.#drainTimer?.[Symbol.dispose]()
    this.#session.destroy()
    return this.#reason
  }
}

function sendBody(body: AsyncIterable<Uint8Array>, stream: ClientHttp2Stream): void {
  pipeline(body, stream).catch((error: unknown) => {
    // An answer may come before the whole body was wanted; half a body must not look whole.
    stream.destroy(error instanceof Error ? error : new Error(String(error)))
  })
}

function followSignal(stream: ClientHttp2Stream, signal: AbortSignal): void {
  const onAbort = (): void => {
    stream.close(constants.NGHTTP2_CANCEL)
    const reason: unknown = signal.reason
    stream.destroy(reason instanceof Error ? reason : new Error(String(reason)))
  }
  signal.addEventListener('abort', onAbort, { once: true })
  stream.once('close', () => signal.removeEventListener('abort', onAbort))
}
