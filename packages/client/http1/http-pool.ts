import type { Duplex } from 'node:stream'
import { abortReason, type Timer } from '@skerry/base'
import {
  HttpConnection,
  UnansweredError,
  type AnswerLimit,
  type HttpAnswer,
  type HttpAsk,
} from './http-connection.ts'
import { clientBounds } from '../limits-table.ts'

export interface HttpPoolOptions extends AnswerLimit {
  /** Opens a connection. Rejects with the reason for a failure, in words for the caller. */
  readonly open: (signal: AbortSignal) => Promise<Duplex>
  readonly socketsMax: number
  readonly idleSocketsMax: number
  readonly idleSocketMs: number
}

interface Waiting {
  go(): void
}

/**
 * A pool of kept-alive connections to one server, the youngest used first. A request waits if all
 * are in use; callers limit how many wait. Dispose it to close all.
 */
export class HttpPool implements Disposable {
  readonly #options: HttpPoolOptions
  readonly #idle: HttpConnection[] = []
  readonly #all = new Set<HttpConnection>()
  readonly #since = new WeakMap<HttpConnection, number>()
  readonly #waiting = new Set<Waiting>()
  #opening = 0
  #isRetired = false
  #sweeper: Timer | undefined

  constructor(options: HttpPoolOptions) {
    this.#options = options
  }

  /**
   * Sends the request once more, on a new connection, if a reused one ended without a byte of the
   * answer and the request changes nothing (RFC 9110, section 9.2.2). Rejects as
   * HttpConnection.ask().
   */
  async ask(request: HttpAsk, signal: AbortSignal): Promise<HttpAnswer> {
    const connection = this.#idle.pop() ?? (await this.#take(signal))
    const isKept = connection.asked > 0
    try {
      return await connection.ask(request, signal)
    } catch (error) {
      const isStale = isKept && error instanceof UnansweredError
      if (!isStale || !mayRepeat(request)) throw error
    }
    // The other idle connections are as old, so a new one is opened.
    const fresh = await this.#openOne(signal)
    return fresh.ask(request, signal)
  }

  /** Accepts no new requests: idle connections end now, others with their answer. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#idle.splice(0)) connection.close()
    this.#sweeper?.[Symbol.dispose]()
    this.#sweeper = undefined
  }

  [Symbol.dispose](): void {
    this.retire()
    for (const connection of this.#all) connection.close(new Error('the connection pool is closed'))
  }

  async #take(signal: AbortSignal): Promise<HttpConnection> {
    while (this.#all.size + this.#opening >= this.#options.socketsMax) {
      await this.#turn(signal)
      const free = this.#idle.pop()
      if (free) return free
    }
    return this.#openOne(signal)
  }

  async #openOne(signal: AbortSignal): Promise<HttpConnection> {
    this.#opening += 1
    try {
      const socket = await this.#options.open(signal)
      const connection = new HttpConnection(socket, this.#options, {
        onFree: (free) => this.#onFree(free),
        onClose: (closed) => this.#onClose(closed),
      })
      this.#all.add(connection)
      this.#opening -= 1
      return connection
    } catch (error) {
      this.#opening -= 1
      this.#wakeOne()
      throw error
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortReason(signal))
      const onAbort = (): void => {
        this.#waiting.delete(waiting)
        reject(abortReason(signal))
      }
      const waiting: Waiting = {
        go: () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      this.#waiting.add(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #wakeOne(): void {
    const [first] = this.#waiting
    if (!first) return
    this.#waiting.delete(first)
    first.go()
  }

  #onFree(connection: HttpConnection): void {
    const isTooMany = this.#idle.length >= this.#options.idleSocketsMax
    if (this.#isRetired || isTooMany || this.#idleMs(connection) <= 0) return connection.close()
    this.#idle.push(connection)
    this.#since.set(connection, this.#options.clock.monotonicMs())
    this.#sweeper ??= this.#sweepLater()
    this.#wakeOne()
  }

  #onClose(connection: HttpConnection): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#wakeOne()
  }

  /** A little less than the server's time: a request must not meet the connection's end. */
  #idleMs({ idleMs = Number.POSITIVE_INFINITY }: HttpConnection): number {
    return Math.min(this.#options.idleSocketMs, idleMs - serverMarginMs)
  }

  #sweepLater(): Timer {
    const { clock } = this.#options
    return clock.setTimer(sweepMs, () => this.#sweep(), { isBackground: true })
  }

  #sweep(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const old = this.#idle.filter((connection) => {
      const sinceMs = this.#since.get(connection) ?? 0
      return nowMs - sinceMs + sweepMs > this.#idleMs(connection)
    })
    for (const connection of old) connection.close()
    this.#sweeper = this.#all.size > 0 ? this.#sweepLater() : undefined
  }
}

const { serverMarginMs, sweepMs } = clientBounds.httpPool

function mayRepeat({ method, body }: HttpAsk): boolean {
  return body === undefined && /^(GET|HEAD|OPTIONS)$/.test(method)
}
