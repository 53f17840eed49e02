import type { Socket } from 'node:net'
import type { Clock } from '@skerry/base'
import { Http2Connection, type OnStream } from './connection/http2-connection.ts'
import { FrameOutput } from './frames/frame-output.ts'
import { http2Defaults, type Http2Limits } from './limits-table.ts'

/** Serves HTTP/2 on connections that others accept. */
export class Http2Server {
  readonly #limits: Http2Limits
  readonly #deps: {
    readonly clock: Clock
    readonly output: FrameOutput
    readonly onStream: OnStream
  }
  readonly #connections = new Set<Http2Connection>()
  #whenEmpty: (() => void) | undefined

  constructor(limits: Partial<Http2Limits>, deps: { clock: Clock; onStream: OnStream }) {
    this.#limits = { ...http2Defaults, ...limits }
    this.#deps = { ...deps, output: new FrameOutput() }
  }

  /**
   * Takes a connection of which nothing was read, the preface of HTTP/2 included: of TCP, a unix socket, or TLS that has
   * agreed on `h2`. The caller listens to its errors, and limits the time to its first bytes.
   */
  take(socket: Socket): void {
    const connection = new Http2Connection(socket, this.#limits, this.#deps)
    this.#connections.add(connection)
    socket.once('close', () => {
      this.#connections.delete(connection)
      if (this.#connections.size === 0) this.#whenEmpty?.()
    })
  }

  /** Refuses new streams, and lets those that are open end for `drainMs` before it cuts them. */
  async close(drainMs: number): Promise<void> {
    const empty = Promise.withResolvers<void>()
    this.#whenEmpty = empty.resolve
    for (const connection of this.#connections) connection.drain()
    if (this.#connections.size === 0) return
    using _late = this.#deps.clock.setTimer(drainMs, empty.resolve)
    await empty.promise
    for (const connection of this.#connections) connection.destroy()
  }
}
