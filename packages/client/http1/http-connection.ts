import { Readable, type Duplex } from 'node:stream'
import { abortReason, type Clock, type Timer } from '@skerry/base'
import { BadAnswerError, type AnswerHead, type AnswerHeaders } from './answer-head.ts'
import { AnswerParser } from './answer-parser.ts'
import { requestHead, type HttpRequest, type RequestHead } from './request-head.ts'
import { sendRequestBody } from './send-request-body.ts'
import { clientBounds } from '../limits-table.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** The bytes if the whole answer has come at once; otherwise a stream to read or destroy. */
  readonly body: Uint8Array | Readable
}

/**
 * Reports that the connection ended before the first byte of the answer. On a reused connection the
 * server may not have read the request.
 */
export class UnansweredError extends Error {
  override name = 'UnansweredError'
}

export interface HttpAsk extends HttpRequest {
  /** True if the answer must begin within the limit. */
  readonly isBounded: boolean
}

export interface AnswerLimit {
  /** The time to the answer's head after the whole request was sent. */
  readonly answerMs: number
  /** Creates the error of a request that is not answered in time. */
  readonly late: () => Error
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
}

export interface ConnectionEvents {
  /** Called when the connection can take another request. */
  onFree(connection: HttpConnection): void
  onClose(connection: HttpConnection): void
}

interface Exchange {
  readonly signal: AbortSignal
  readonly isBounded: boolean
  readonly onAbort: () => void
  readonly resolve: (answer: HttpAnswer) => void
  readonly reject: (error: Error) => void
  head: AnswerHead | undefined
  /** The pieces of the body before anybody reads it. */
  pieces: Buffer[]
  body: Readable | undefined
  isEnded: boolean
  isSent: boolean
  stopSending: (() => void) | undefined
}

/** One HTTP/1.1 connection, with one request at a time. */
export class HttpConnection {
  readonly socket: Duplex
  /** The number of requests it has taken. */
  asked = 0
  /** How long the server keeps the connection unused, if it says so. */
  idleMs: number | undefined
  readonly #parser: AnswerParser
  readonly #limit: AnswerLimit
  readonly #events: ConnectionEvents
  #exchange: Exchange | undefined
  /** One timer serves all requests: a request only moves the deadline. */
  #timer: Timer | undefined
  /** The deadline of the last request, in monotonic milliseconds. */
  #answerByMs = 0
  #isClosed = false
  #hasBytes = false

  constructor(socket: Duplex, limit: AnswerLimit, events: ConnectionEvents) {
    this.socket = socket
    this.#limit = limit
    this.#events = events
    this.#parser = new AnswerParser({
      onHead: (head) => this.#onHead(head),
      onData: (bytes) => this.#onData(bytes),
      onEnd: () => this.#onEnd(),
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('end', () => this.#onEof())
    socket.on('error', (error) => this.#lose(error))
    socket.on('close', () => this.#lose(new Error('the connection was closed')))
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /**
   * Rejects with UnansweredError, BadAnswerError, RangeError for an invalid request, or the
   * signal's reason.
   */
  ask(request: HttpAsk, signal: AbortSignal): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      let head: RequestHead
      try {
        signal.throwIfAborted()
        head = requestHead(request)
      } catch (error) {
        this.#events.onFree(this)
        throw error
      }
      const onAbort = (): void => this.close(abortReason(signal))
      const { isBounded } = request
      const exchange: Exchange = {
        signal,
        isBounded,
        onAbort,
        resolve,
        reject,
        head: undefined,
        pieces: [],
        body: undefined,
        isEnded: false,
        isSent: false,
        stopSending: undefined,
      }
      signal.addEventListener('abort', onAbort, once)
      this.#exchange = exchange
      this.#hasBytes = false
      this.asked += 1
      this.#parser.begin(request.method === 'HEAD')
      this.#send(exchange, request.body, head)
    })
  }

  /** Closes at once. A request under way fails with the error. */
  close(error?: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    this.socket.destroy()
    const exchange = this.#exchange
    if (exchange) this.#fail(exchange, error ?? new Error('the connection was closed'))
    this.#events.onClose(this)
  }

  #send(exchange: Exchange, body: HttpRequest['body'], { text, lengthBytes }: RequestHead): void {
    const { socket } = this
    const onSent = (): void => {
      exchange.isSent = true
      exchange.stopSending = undefined
      if (exchange.isBounded) this.#limitAnswer()
    }
    if (body === undefined || body instanceof Uint8Array) {
      // The head and body are one write, and so one TLS record.
      socket.cork()
      socket.write(text, 'latin1')
      if (body && body.length > 0) socket.write(body)
      socket.uncork()
      return onSent()
    }
    socket.write(text, 'latin1')
    exchange.stopSending = sendRequestBody(body, socket, {
      lengthBytes,
      onSent,
      onFault: (error) => this.close(error),
    })
  }

  #limitAnswer(): void {
    const { clock, answerMs } = this.#limit
    this.#answerByMs = clock.monotonicMs() + answerMs
    this.#timer ??= this.#lookIn(answerMs)
  }

  #lookIn(ms: number): Timer {
    return this.#limit.clock.setTimer(ms, () => this.#onTimer(), { isBackground: true })
  }

  /** Sets the timer again if a later request has moved the deadline; otherwise closes the connection. */
  #onTimer(): void {
    this.#timer = undefined
    const exchange = this.#exchange
    if (!exchange?.isSent || !exchange.isBounded || exchange.head) return
    const leftMs = this.#answerByMs - this.#limit.clock.monotonicMs()
    if (leftMs > 0) this.#timer = this.#lookIn(leftMs)
    else this.close(this.#limit.late())
  }

  #read(chunk: Buffer): void {
    this.#hasBytes = true
    try {
      this.#parser.read(chunk)
    } catch (error) {
      const cause = error instanceof Error ? error : new BadAnswerError(String(error))
      return this.close(cause)
    }
    const exchange = this.#exchange
    if (exchange?.head && !exchange.body) this.#answer(exchange, exchange.head)
    if (exchange) this.#settle(exchange)
  }

  #onHead(head: AnswerHead): void {
    const exchange = this.#exchange
    if (!exchange) return
    exchange.head = head
    this.idleMs = head.idleMs
  }

  #onData(bytes: Buffer): void {
    const exchange = this.#exchange
    if (!exchange) return
    if (!exchange.body) exchange.pieces.push(bytes)
    else if (!exchange.body.push(bytes)) this.socket.pause()
  }

  #onEnd(): void {
    const exchange = this.#exchange
    if (!exchange) return
    exchange.isEnded = true
    exchange.body?.push(null)
  }

  /** Hands over what has come with the head; the rest is read on demand. */
  #answer(exchange: Exchange, { status, headers }: AnswerHead): void {
    const { pieces, resolve } = exchange
    if (exchange.isEnded) {
      const [only = noBytes] = pieces
      return resolve({ status, headers, body: pieces.length > 1 ? Buffer.concat(pieces) : only })
    }
    const body = new Readable({
      highWaterMark: readableHighWaterMark,
      read: () => {
        if (this.#exchange === exchange) this.socket.resume()
      },
      destroy: (error, done) => {
        if (!exchange.isEnded) this.close(error ?? new Error('nobody reads the answer'))
        done(error)
      },
    })
    // A reader gets the error; without a reader it must not end the process.
    body.on('error', ignore)
    exchange.body = body
    for (const piece of pieces) if (!body.push(piece)) this.socket.pause()
    exchange.pieces = []
    resolve({ status, headers, body })
  }

  /** Runs when both directions have ended: the connection is free, or at its own end. */
  #settle(exchange: Exchange): void {
    const { head } = exchange
    if (!exchange.isEnded || this.#exchange !== exchange) return
    this.#exchange = undefined
    exchange.signal.removeEventListener('abort', exchange.onAbort)
    // The answer came before the request was complete, so the rest would precede the next request.
    exchange.stopSending?.()
    if (!head?.isKept || !exchange.isSent || this.#isClosed) return this.close()
    this.socket.resume()
    this.#events.onFree(this)
  }

  #onEof(): void {
    if (this.#parser.end()) {
      const exchange = this.#exchange
      if (exchange?.head && !exchange.body) this.#answer(exchange, exchange.head)
      if (exchange) this.#settle(exchange)
    }
    this.#lose(new Error('the server closed the connection'))
  }

  /** Runs when the peer has closed the connection. */
  #lose(cause: Error): void {
    this.close(this.#hasBytes ? cause : new UnansweredError(cause.message, { cause }))
  }

  #fail(exchange: Exchange, error: Error): void {
    this.#exchange = undefined
    exchange.signal.removeEventListener('abort', exchange.onAbort)
    exchange.stopSending?.()
    if (exchange.body) exchange.body.destroy(error)
    else exchange.reject(error)
  }
}

const once = Object.freeze({ once: true })
const noBytes = Buffer.alloc(0)
const { readableHighWaterMark } = clientBounds.httpConnection

function ignore(): void {}
