import { OutgoingBytes } from '../traffic/outgoing-bytes.ts'
import type { SendQueue } from '../traffic/send-queue.ts'
import { ReceiveWindow, type ReceiveBudget } from './session-window.ts'
import { StreamTraffic } from '../traffic/stream-traffic.ts'
import type { TrafficClass } from '../traffic/traffic-rules.ts'
import {
  firstCreditBytes,
  FrameError,
  frameTypes,
  headText,
  resetCodes,
} from '../frame/tunnel-frame.ts'
import type { Sender } from '../traffic/turn-order.ts'

/** A stream's writer waits above this. */
const queuedBytesMax = 65_536
/** A view of a message this many times as large would hold all of it: copied instead. */
const sparseViewFactor = 4

export interface StreamContext {
  readonly queue: SendQueue
  readonly budget: ReceiveBudget
  readonly onOver: (stream: TunnelStream) => void
}

/**
 * One request and its answer: two directions of bytes, which end separately. It is over when both have ended
 * and all received bytes were read, or at once when either end resets it or the link ends.
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
  /** write() may go on, or is in vain. */
  onDrain: (() => void) | undefined
  readonly #context: StreamContext
  readonly #window: ReceiveWindow
  readonly #unread: Buffer[] = []
  #whenOver: (() => void)[] = []
  #isFull = false
  #hasHead = false
  #isAnswering = false
  #isAnswered = false
  #hasArrived = false
  #isOver = false
  #isCut = false
  #isUnwanted = false
  #resetCode: number | undefined
  #fault: Error | undefined

  constructor(id: number, credit: number, context: StreamContext) {
    this.id = id
    this.outgoing = new OutgoingBytes(credit)
    this.#context = context
    this.#window = new ReceiveWindow(context.budget)
  }

  /** The bytes that the other end may send at first. */
  get firstWindowBytes(): number {
    return this.#window.firstBytes
  }
  get isOver(): boolean {
    return this.#isOver
  }
  /** It was over before both directions had ended. */
  get isCut(): boolean {
    return this.#isCut
  }
  /** The code that the other end reset it with. */
  get resetCode(): number | undefined {
    return this.#resetCode
  }
  /** Why this end cut it, where it did for an error. */
  get fault(): Error | undefined {
    return this.#fault
  }
  /** answer() was called. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }
  /** The head of the other end has arrived; data before it breaks the protocol. */
  get hasHead(): boolean {
    return this.#hasHead
  }
  /** True when all bytes of the other end have arrived; some may not have been read. */
  get hasArrived(): boolean {
    return this.#hasArrived
  }
  /** True when all bytes of the other end have been read. */
  get isReadToEnd(): boolean {
    return this.#hasArrived && this.#unread.length === 0
  }

  /** Sets the class of the request, in both directions. Before that it is control. */
  setTrafficClass(name: TrafficClass): void {
    this.traffic.own = name
    this.received.own = name
  }

  /** Called once, when it is over; at once when it is already. */
  whenOver(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#whenOver.push(callback)
  }

  answer(lines: readonly string[]): void {
    const { queue } = this.#context
    if (this.#isOver) return
    this.#isAnswered = true
    queue.control({ type: frameTypes.answer, isEnd: false, stream: this.id, text: headText(lines) })
  }

  /** False: wait for onDrain before more. The chunk must not change any more. */
  write(chunk: Uint8Array): boolean {
    if (this.#isOver || this.outgoing.hasEnd) return true
    this.outgoing.push(chunk)
    this.#context.queue.offer(this)
    this.#isFull = this.outgoing.queued >= queuedBytesMax
    return !this.#isFull
  }

  end(): void {
    if (this.#isOver) return
    this.outgoing.end()
    this.#context.queue.offer(this)
  }

  /** Returns undefined if there is nothing to read right now. */
  read(): Buffer | undefined {
    const chunk = this.#unread.shift()
    if (chunk === undefined) return undefined
    const credit = this.#window.onRead(chunk.length)
    if (credit > 0 && !this.#hasArrived) this.#giveCredit(credit)
    this.#endIfDone()
    return chunk
  }

  /** Reads everything that the other end sends, if it has arrived in one piece of at most this many bytes. */
  readWhole(bytesMax: number): Buffer | undefined {
    if (!this.#hasArrived || this.#isCut || this.#unread.length > 1) return undefined
    const [chunk = noBytes] = this.#unread
    if (chunk.length > bytesMax) return undefined
    this.read()
    return chunk
  }

  /** The reader wants no more. An answer that is complete still leaves whole; else this is a reset. */
  stopReading(): void {
    if (this.#isOver) return
    if (!this.#isAnswering || !this.outgoing.hasEnd) return this.reset(resetCodes.cancel)
    this.#isUnwanted = true
    while (this.read() !== undefined) continue
    this.#endIfDone()
  }

  /** Ends both directions at once; what waits is dropped. */
  reset(code: number, fault?: Error): void {
    if (this.#isOver) return
    this.#fault = fault
    if (!this.#isDone) this.#sendReset(code)
    this.#isCut = true
    this.#finish()
  }

  /**
   * Ends the stream because the link ended, or an end gave up. Bytes that arrived stay readable if they are
   * complete.
   */
  cut(): void {
    if (this.#isOver) return
    this.#isCut = !this.#isDone
    this.#finish()
  }

  /** At the answering end: records a request, whose body follows unless `isEnd` is set. */
  onOpened(isEnd: boolean): void {
    this.#hasHead = true
    this.#isAnswering = true
    this.#hasArrived = isEnd
    if (isEnd) return this.#window.close()
    const credit = this.#window.firstBytes - firstCreditBytes
    if (credit > 0) this.#giveCredit(credit)
  }

  onAnswer(lines: string[]): void {
    this.#hasHead = true
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
    if (this.#hasArrived || !this.#hasHead) throw new FrameError('data out of place')
    this.#window.onBytes(payload.length)
    if (isEnd) this.#hasArrived = true
    if (payload.length > 0) this.#unread.push(compact(payload))
    if (this.#isUnwanted) while (this.read() !== undefined) continue
    this.onReadable?.()
    this.#endIfDone()
  }

  onReset(code: number): void {
    this.#resetCode = code
    // The answer is complete, and the rest of the request is not wanted: nothing is missing.
    if (code === resetCodes.none && this.#hasArrived && !this.#isAnswering) {
      this.outgoing.clear()
      this.outgoing.endAtOnce()
      this.onDrain?.()
      this.#endIfDone()
    } else this.cut()
  }

  #giveCredit(bytes: number): void {
    const { queue } = this.#context
    queue.control({ type: frameTypes.credit, isEnd: false, stream: this.id, number: bytes })
  }

  #endIfDone(): void {
    if (this.#isOver || !this.outgoing.isEndTaken || this.#unread.length > 0) return
    if (this.#hasArrived) return this.#finish()
    if (!this.#isUnwanted) return
    this.#sendReset(resetCodes.none)
    this.#finish()
  }

  /** Both directions have ended on the wire. */
  get #isDone(): boolean {
    return this.#hasArrived && this.outgoing.isEndTaken
  }

  #sendReset(code: number): void {
    const { queue } = this.#context
    queue.control({ type: frameTypes.reset, isEnd: false, stream: this.id, number: code })
  }

  #finish(): void {
    this.#isOver = true
    this.outgoing.clear()
    this.#window.close()
    if (this.#isCut) this.#unread.length = 0
    this.#context.onOver(this)
    const callbacks = this.#whenOver
    this.#whenOver = []
    for (const callback of callbacks) callback()
    this.onDrain?.()
  }
}

const noBytes = Buffer.alloc(0)

function compact(payload: Buffer): Buffer {
  const isSparse = payload.length * sparseViewFactor < payload.buffer.byteLength
  return isSparse ? Buffer.from(payload) : payload
}
