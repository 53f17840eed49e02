import type { Socket } from 'node:net'
import type { Clock, Timer } from '@skerry/base'
import type { FrameOutput } from '../frames/frame-output.ts'
import { firstWindowBytes } from '../frames/frame-types.ts'
import { http2Bounds } from '../limits-table.ts'
import type { Http2Stream } from './http2-stream.ts'

const { flushBytesMax, controlBytesMax } = http2Bounds.frameSender

export interface FrameSenderDeps {
  readonly clock: Clock
  /** Is shared by all connections, since each fills and empties it in one go. */
  readonly output: FrameOutput
  /** The time in which a reader must take some of an answer that is complete. */
  readonly unreadMs: number
}

/** Calls of the connection when something was sent, or nothing can be. */
export interface SendEvents {
  /** The answer of this stream was sent to its end. */
  onAnswered(stream: Http2Stream): void
  /** The peer causes acknowledgements and resets and reads none of them. */
  onFlood(): void
  /**
   * Something has waited for the peer for a while: end what was sent nothing of since then. Returns true if something
   * still waits.
   */
  onWaiting(sinceMs: number, isSocketStalled: boolean): boolean
}

/**
 * The sending half of a connection. All that streams have to say within one turn of the event loop goes to the socket
 * at once; streams take turns, a frame each. It gives a socket no more while that has enough.
 */
export class FrameSender {
  /** The bytes of content that the peer still allows on the connection. */
  windowBytes = firstWindowBytes
  readonly #socket: Socket
  readonly #deps: FrameSenderDeps
  readonly #events: SendEvents
  #ready: Http2Stream[] = []
  /** Streams that wait for the window of the connection. */
  #starved: Http2Stream[] = []
  #control: Buffer[] = []
  #controlBytes = 0
  #isScheduled = false
  #isControlScheduled = false
  #isClogged = false
  #takenAtMs = 0
  #stall: Timer | undefined
  #isClosed = false

  constructor(socket: Socket, deps: FrameSenderDeps, events: SendEvents) {
    this.#socket = socket
    this.#deps = deps
    this.#events = events
    socket.on('drain', () => {
      this.#isClogged = false
      this.#takenAtMs = deps.clock.monotonicMs()
      this.schedule()
    })
  }

  /** True if all was given to the socket. */
  get isEmpty(): boolean {
    return this.#ready.length + this.#starved.length + this.#control.length === 0
  }

  /**
   * Queues a frame that belongs to no answer. It goes with the answers that the requests of this turn get soon, since
   * clients such as Go's ping with each request, and a write of its own would wake them in vain.
   */
  control(frame: Buffer): void {
    this.#control.push(frame)
    this.#controlBytes += frame.length
    if (this.#controlBytes > controlBytesMax) return this.#events.onFlood()
    if (this.#isControlScheduled) return
    this.#isControlScheduled = true
    // Requests that came with it are answered in the first one, if they are committed in it.
    setImmediate(() => setImmediate(this.#onControl))
  }

  wake(stream: Http2Stream): void {
    if (stream.isQueued) {
      if (stream.isEnding) this.#watch()
      return
    }
    if (!stream.canSend) {
      if (stream.isEnding && !stream.isAnswered) this.#watch()
      return
    }
    stream.isQueued = true
    if (stream.needsWindow && this.windowBytes <= 0) {
      this.#starved.push(stream)
      return this.#watch()
    }
    this.#ready.push(stream)
    this.schedule()
  }

  /** The peer allows more content on the connection. */
  widen(bytes: number): void {
    this.windowBytes += bytes
    if (this.windowBytes <= 0 || this.#starved.length === 0) return
    this.#ready.push(...this.#starved)
    this.#starved = []
    this.schedule()
  }

  schedule(): void {
    if (this.#isScheduled || this.#isClogged || this.#isClosed) return
    this.#isScheduled = true
    // Promises that have settled come first: an event and the answer to its write leave together.
    queueMicrotask(this.#onPromises)
  }

  /** Gives the socket what it takes now. */
  flush(): void {
    if (this.#isClosed) return
    const { output } = this.#deps
    for (const frame of this.#control) output.raw(frame)
    this.#control = []
    this.#controlBytes = 0
    const sent: Sent[] = []
    this.#collect(output, sent)
    if (output.bytes > 0) this.#write(output.take(), sent)
    for (const { stream } of sent) if (stream.isAnswered) this.#events.onAnswered(stream)
    if (this.#ready.length > 0) this.schedule()
  }

  close(): void {
    this.#isClosed = true
    this.#ready = []
    this.#starved = []
    this.#control = []
    this.#stall?.[Symbol.dispose]()
  }

  readonly #onPromises = (): void => process.nextTick(this.#onTurn)

  readonly #onTurn = (): void => {
    this.#isScheduled = false
    if (!this.#isClogged) this.flush()
  }

  readonly #onControl = (): void => {
    this.#isControlScheduled = false
    if (this.#control.length > 0) this.schedule()
  }

  #collect(output: FrameOutput, sent: Sent[]): void {
    const nowMs = this.#deps.clock.monotonicMs()
    let line = this.#ready
    this.#ready = []
    for (let at = 0; at < line.length || this.#ready.length > 0; at += 1) {
      if (at === line.length) {
        // Those that have more come again after all others.
        line = this.#ready
        this.#ready = []
        at = 0
      }
      const stream = line[at]
      if (stream === undefined) continue
      if (output.bytes >= flushBytesMax) {
        this.#ready = [...line.slice(at), ...this.#ready]
        return
      }
      stream.isQueued = false
      if (!stream.canSend) continue
      const bytes = stream.writeTo(output, this.windowBytes)
      this.windowBytes -= bytes
      stream.sentAtMs = nowMs
      if (bytes > 0 || stream.isAnswered) sent.push({ stream, bytes })
      this.wake(stream)
    }
  }

  #write(parts: readonly Uint8Array[], sent: readonly Sent[]): void {
    const onTaken = (): void => {
      for (const { stream, bytes } of sent) if (bytes > 0) stream.handler.onTaken(bytes)
    }
    const last = parts.length - 1
    if (last > 0) this.#socket.cork()
    for (const [at, part] of parts.entries()) {
      const isTakenAtOnce = at < last ? this.#socket.write(part) : this.#socket.write(part, onTaken)
      if (!isTakenAtOnce && !this.#isClogged) {
        this.#isClogged = true
        this.#takenAtMs = this.#deps.clock.monotonicMs()
        this.#watch()
      }
    }
    if (last > 0) this.#socket.uncork()
    if (this.#isClogged && !this.#socket.writableNeedDrain) this.#isClogged = false
  }

  /** While something waits for the peer, looks now and then whether anything of it goes. */
  #watch(): void {
    if (this.#stall !== undefined || this.#isClosed) return
    const { clock, unreadMs } = this.#deps
    const look = (): void => {
      this.#stall = undefined
      if (this.#isClosed) return
      const sinceMs = clock.monotonicMs() - unreadMs
      const isStalled = this.#isClogged && this.#takenAtMs <= sinceMs
      if (this.#events.onWaiting(sinceMs, isStalled) || this.#isClogged) this.#watch()
    }
    this.#stall = clock.setTimer(unreadMs / 2, look, { isBackground: true })
  }
}

interface Sent {
  readonly stream: Http2Stream
  readonly bytes: number
}
