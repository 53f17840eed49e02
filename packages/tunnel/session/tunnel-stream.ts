import { OutgoingBytes } from '../traffic/outgoing-bytes.ts'
import type { SendQueue } from '../traffic/send-queue.ts'
import { ReceiveWindow, type ReceiveBudget } from './session-window.ts'
import { StreamTraffic } from '../traffic/stream-traffic.ts'
import type { TrafficClass } from '../traffic/traffic-rules.ts'
import {
  receivingTable,
  type ReceivingEvent,
  type ReceivingState,
  type StreamRole,
  type StreamState,
} from '../frame/stream-state.ts'
import {
  firstCreditBytes,
  FrameError,
  frameTypes,
  headText,
  resetCodes,
} from '../frame/tunnel-frame.ts'
import type { Sender } from '../traffic/turn-order.ts'
import { tunnelBounds } from '../limits-table.ts'

const { queuedBytesMax } = tunnelBounds.tunnelStream
/** A view of a message this many times as large would hold all of it: copied instead. */
const sparseViewFactor = 4

export interface StreamContext {
  readonly role: StreamRole
  readonly queue: SendQueue
  readonly budget: ReceiveBudget
  readonly onOver: (stream: TunnelStream) => void
}

/**
 * One request and its answer: two directions of bytes, which end apart. stream-state.ts lists the states. The stream
 * is over when both directions have ended and all that arrived was read, or at once when either end resets it or the
 * link ends.
 */
export class TunnelStream implements Sender {
  readonly id: number
  readonly outgoing: OutgoingBytes
  /** The class in which this end sends, and the one in which the other end's bytes are counted. */
  readonly traffic = new StreamTraffic()
  readonly received = new StreamTraffic()
  /** The answer's head arrived. */
  onHead: ((lines: string[]) => void) | undefined
  /** Bytes or the end arrived. */
  onReadable: (() => void) | undefined
  /** Called when write() may continue, or is pointless. */
  onDrain: (() => void) | undefined
  readonly #context: StreamContext
  readonly #window: ReceiveWindow
  readonly #unread: Buffer[] = []
  #whenOver: (() => void)[] = []
  #state: StreamState = open
  #receiving: ReceivingState = 'head'
  /** write() has returned false: the writer waits for onDrain. */
  #isFull = false

  constructor(id: number, credit: number, context: StreamContext) {
    this.id = id
    // The request's head is in the frame that opens the stream.
    this.outgoing = new OutgoingBytes(credit, context.role === 'asking' ? 'body' : 'head')
    this.#context = context
    this.#window = new ReceiveWindow(context.budget)
  }

  /** The other end may send this much before it has any further credit. */
  get firstWindowBytes(): number {
    return this.#window.firstBytes
  }
  get state(): StreamState {
    return this.#state
  }
  get isOver(): boolean {
    return this.#state !== open
  }
  /** The stream was over before both directions had ended. */
  get isCut(): boolean {
    return this.#state.name === 'cut'
  }
  /** True once answer() was called. */
  get isAnswered(): boolean {
    return this.outgoing.state !== 'head'
  }
  /** True when all bytes of the other end have arrived; some may not have been read. */
  get hasArrived(): boolean {
    return this.#receiving === 'ended'
  }
  /** True when all bytes of the other end have been read. */
  get isReadToEnd(): boolean {
    return this.hasArrived && this.#unread.length === 0
  }

  /** Sets the request's class, for both directions. Until then it is control. */
  setTrafficClass(name: TrafficClass): void {
    this.traffic.own = name
    this.received.own = name
  }

  /** Calls back once it is over; at once if it already is. */
  whenOver(callback: () => void): void {
    if (this.isOver) callback()
    else this.#whenOver.push(callback)
  }

  answer(lines: readonly string[]): void {
    const { queue } = this.#context
    if (this.isOver) return
    this.outgoing.begin()
    queue.control({ type: frameTypes.answer, isEnd: false, stream: this.id, text: headText(lines) })
  }

  /** Returns false if the caller should wait for onDrain before more. The chunk must not change any more. */
  write(chunk: Uint8Array): boolean {
    if (this.isOver || this.outgoing.hasEnd) return true
    this.outgoing.push(chunk)
    this.#context.queue.offer(this)
    this.#isFull = this.outgoing.queued >= queuedBytesMax
    return !this.#isFull
  }

  end(): void {
    if (this.isOver) return
    this.outgoing.end()
    this.#context.queue.offer(this)
  }

  /** Returns undefined if there is nothing to read right now. */
  read(): Buffer | undefined {
    const chunk = this.#unread.shift()
    if (chunk === undefined) return undefined
    const credit = this.#window.onRead(chunk.length)
    if (credit > 0 && !this.hasArrived) this.#giveCredit(credit)
    this.#endIfDone()
    return chunk
  }

  /** Reads everything that the other end sends, if it has arrived in one piece of at most this many bytes. */
  readWhole(bytesMax: number): Buffer | undefined {
    if (!this.hasArrived || this.isCut || this.#unread.length > 1) return undefined
    const [chunk = noBytes] = this.#unread
    if (chunk.length > bytesMax) return undefined
    this.read()
    return chunk
  }

  /** Stops reading. A complete answer is still sent whole; otherwise this is a reset. */
  stopReading(): void {
    if (this.isOver) return
    if (this.#context.role === 'asking' || !this.outgoing.hasEnd) {
      return this.reset(resetCodes.cancel)
    }
    this.#onIncoming('stop')
    while (this.read() !== undefined) continue
    this.#endIfDone()
  }

  /** Ends both directions at once and drops waiting bytes. */
  reset(code: number, fault?: Error): void {
    if (this.isOver) return
    if (!this.#isDone) this.#sendReset(code)
    this.#finish({ name: 'cut', ...(fault && { fault }) })
  }

  /** The link ended, or one of the ends gave up. A direction that had arrived whole stays readable. */
  cut(): void {
    if (!this.isOver) this.#finish(this.#isDone ? complete : { name: 'cut' })
  }

  /** A request has arrived at the answering end, with its body still to come or none. */
  onOpened(isEnd: boolean): void {
    this.#onIncoming('head')
    if (isEnd) {
      this.#onIncoming('end')
      return this.#window.close()
    }
    const credit = this.#window.firstBytes - firstCreditBytes
    if (credit > 0) this.#giveCredit(credit)
  }

  /** Throws FrameError for an answer at the answering end, or for a second one. */
  onAnswer(lines: string[]): void {
    this.#onIncoming('head')
    this.onHead?.(lines)
  }

  onTaken(): void {
    const { outgoing } = this
    if (this.#isFull && outgoing.queued < queuedBytesMax / 2) {
      this.#isFull = false
      this.onDrain?.()
    }
    this.#endIfDone()
  }

  onCredit(bytes: number): void {
    this.outgoing.addCredit(bytes)
    this.#context.queue.offer(this)
  }

  /** Throws FrameError for more than there was credit for, or after the end. */
  onData(payload: Buffer, isEnd: boolean): void {
    const isUnwanted = this.#receiving === 'unwanted'
    this.#onIncoming('data')
    this.#window.onBytes(payload.length)
    if (isEnd) this.#onIncoming('end')
    if (payload.length > 0) this.#unread.push(compact(payload))
    if (isUnwanted) while (this.read() !== undefined) continue
    this.onReadable?.()
    this.#endIfDone()
  }

  onReset(code: number): void {
    // The answer is complete, and the rest of the request is not wanted: nothing is missing.
    if (code === resetCodes.none && this.hasArrived && this.#context.role === 'asking') {
      this.outgoing.drop()
      this.onDrain?.()
      this.#endIfDone()
      return
    }
    if (!this.isOver) this.#finish(this.#isDone ? complete : { name: 'cut', resetCode: code })
  }

  /** Throws FrameError for what the other end must not send in this state. */
  #onIncoming(event: ReceivingEvent): void {
    const next = receivingTable[this.#receiving][event]
    if (next === undefined) throw new FrameError(`${frameWords[event]} out of place`)
    this.#receiving = next
  }

  #giveCredit(bytes: number): void {
    const { queue } = this.#context
    queue.control({ type: frameTypes.credit, isEnd: false, stream: this.id, number: bytes })
  }

  #endIfDone(): void {
    if (this.isOver || this.outgoing.state !== 'ended' || this.#unread.length > 0) return
    if (this.hasArrived) return this.#finish(complete)
    if (this.#receiving !== 'unwanted') return
    this.#sendReset(resetCodes.none)
    this.#finish(complete)
  }

  /** Both directions have ended on the wire. */
  get #isDone(): boolean {
    return this.hasArrived && this.outgoing.state === 'ended'
  }

  #sendReset(code: number): void {
    const { queue } = this.#context
    queue.control({ type: frameTypes.reset, isEnd: false, stream: this.id, number: code })
  }

  #finish(state: StreamState): void {
    this.#state = state
    this.outgoing.clear()
    this.#window.close()
    if (this.isCut) this.#unread.length = 0
    this.#context.onOver(this)
    const callbacks = this.#whenOver
    this.#whenOver = []
    for (const callback of callbacks) callback()
    this.onDrain?.()
  }
}

const noBytes = Buffer.alloc(0)
const open: StreamState = Object.freeze({ name: 'open' })
const complete: StreamState = Object.freeze({ name: 'complete' })
const frameWords: Readonly<Record<ReceivingEvent, string>> = {
  head: 'an answer',
  data: 'data',
  end: 'an end',
  stop: 'a stop',
}

function compact(payload: Buffer): Buffer {
  const isSparse = payload.length * sparseViewFactor < payload.buffer.byteLength
  return isSparse ? Buffer.from(payload) : payload
}
