import type { Clock, Timer } from '@skerry/base'
import { DelayWindow, type PingProof } from './delay-window.ts'
import { RateLimit } from './rate-limit.ts'
import type { TrafficMeter } from './traffic-meter.ts'
import { defaultTrafficRules, type TrafficRules } from './traffic-rules.ts'
import {
  frameHeaderBytes,
  frameTypes,
  writeFrameHeader,
  type FrameType,
} from '../frame/tunnel-frame.ts'
import { linkHeadBytes, type TunnelLink } from '../frame/tunnel-link.ts'
import { TurnOrder, type Sender } from './turn-order.ts'
import { tunnelBounds } from '../limits-table.ts'

const { messageBytesMax, unsentBytesMax, copiedBytesMax, spareBuffersMax } = tunnelBounds.sendQueue
const bufferBytes = linkHeadBytes + messageBytesMax
/** The bytes of one stream's turn while others wait. */
const turnBytes = 16_384 - frameHeaderBytes

const spareBuffers: Buffer[] = []

/** A frame that carries no body; sent before those that do. */
export interface ControlFrame {
  readonly type: Exclude<FrameType, typeof frameTypes.data>
  readonly isEnd: boolean
  readonly stream: number
  /** A number before the text: 4 bytes, big-endian. */
  readonly number?: number
  /** Latin-1. */
  readonly text?: string
}

export interface SendQueueDeps {
  readonly clock: Clock
  readonly meter: TrafficMeter
  readonly onBytes?: (bytes: number) => void
}

/**
 * Gathers the data to send in one turn of the event loop into few messages, within the rules. Control frames
 * come first. Streams follow in the order of their classes; in each class, first those that had nothing
 * waiting, with one turn each, then the others in turns, so that a small answer never waits behind bulk.
 */
export class SendQueue {
  readonly #link: TunnelLink
  readonly #clock: Clock
  readonly #meter: TrafficMeter
  readonly #onBytes: ((bytes: number) => void) | undefined
  readonly #order = new TurnOrder(defaultTrafficRules)
  readonly #window: DelayWindow
  #control: ControlFrame[] = []
  #controlBytes = 0
  #unsent = 0
  #isScheduled = false
  #bulkAfterBytes = defaultTrafficRules.bulkAfterBytes
  /** If omitted, as fast as the link. */
  #rate: RateLimit | undefined
  /** Ends when the rate allows more. */
  #pause: Timer | undefined

  constructor(link: TunnelLink, { clock, meter, onBytes }: SendQueueDeps) {
    this.#onBytes = onBytes
    this.#link = link
    this.#clock = clock
    this.#meter = meter
    this.#window = new DelayWindow(link, clock.monotonicMs())
  }

  /** Bytes of control frames that wait. */
  get controlBytes(): number {
    return this.#controlBytes
  }

  /** Applies from the next message on; waiting data keeps its place. */
  setRules(rules: TrafficRules): void {
    this.#order.setFloors(rules)
    this.#bulkAfterBytes = rules.bulkAfterBytes
    this.#rate = rules.rate && new RateLimit(rules.rate, this.#clock.monotonicMs())
    this.#endPause()
    if (this.#isWaiting) this.#schedule()
  }

  /** The other end pings. */
  onPing(payload: string): void {
    this.#window.onPing(payload, this.#clock.monotonicMs())
  }

  /** The other end answered a ping: a mark of the window's, or another one with what that proves. */
  onPong(payload: string, proof: PingProof | undefined): void {
    const nowMs = this.#clock.monotonicMs()
    if (proof) this.#window.onProof(proof, nowMs)
    else this.#window.onPong(payload, nowMs)
    if (this.#isWaiting) this.#schedule()
  }

  /** Stops sending on its own. */
  stop(): void {
    this.#endPause()
  }

  /** Bytes of control frames, and bytes that the link was given and the kernel has not taken. */
  get unsentBytes(): number {
    return this.#controlBytes + this.#unsent
  }

  control(frame: ControlFrame): void {
    this.#control.push(frame)
    this.#controlBytes += bytesOf(frame)
    this.#schedule()
  }

  /** The sender may have become ready. */
  offer(sender: Sender): void {
    if (sender.outgoing.isReady && this.#order.add(sender, true)) this.#schedule()
  }

  /** Sends everything that waits and may leave to the link now, however much that is. */
  flush(): void {
    this.#rate = undefined
    this.#flush(Infinity)
  }

  get #isWaiting(): boolean {
    return this.#control.length > 0 || this.#order.size > 0
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pause !== undefined || this.#unsent >= unsentBytesMax) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush(unsentBytesMax)
    })
  }

  #flush(most: number): void {
    const nowMs = this.#clock.monotonicMs()
    while (this.#unsent < most) {
      if (!this.#isWaiting || this.#mustPause(nowMs)) return
      // Frames without a body go at once; bodies of any class wait for room in the window.
      const hasRoom = most === Infinity || this.#window.admit()
      if (!hasRoom && this.#control.length === 0) return
      const buffer = this.#bufferForNext()
      const message = buffer.subarray(linkHeadBytes)
      const room = Math.min(
        this.#rate?.messageBytesMax ?? message.length,
        this.#window.messageBytesMax,
      )
      const controlEnd = this.#writeControl(message, room)
      const hasMoreControl = this.#control.length > 0
      const end =
        hasMoreControl || !hasRoom
          ? controlEnd
          : this.#writeData({ buffer: message, room, start: controlEnd, nowMs })
      if (end > 0) this.#send(buffer, end, nowMs)
      else giveBack(buffer)
    }
  }

  #mustPause(nowMs: number): boolean {
    const waitMs = this.#rate?.waitMs(nowMs) ?? 0
    if (waitMs > 0) {
      this.#pause ??= this.#clock.setTimer(waitMs, () => {
        this.#pause = undefined
        this.#flush(unsentBytesMax)
      })
    }
    return waitMs > 0
  }

  #endPause(): void {
    this.#pause?.[Symbol.dispose]()
    this.#pause = undefined
  }

  /** A single head may be larger than a usual message. */
  #bufferForNext(): Buffer {
    const [first] = this.#control
    if (first !== undefined && bytesOf(first) > messageBytesMax) {
      return Buffer.allocUnsafeSlow(linkHeadBytes + bytesOf(first))
    }
    return spareBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferBytes)
  }

  /** Writes the first frame even if there is not enough room for it. */
  #writeControl(buffer: Buffer, room: number): number {
    let offset = 0
    let count = 0
    for (const frame of this.#control) {
      const bytes = bytesOf(frame)
      if (offset + bytes > buffer.length || (count > 0 && offset + bytes > room)) break
      writeControlFrame(buffer, offset, frame)
      offset += bytes
      count += 1
    }
    this.#controlBytes -= offset
    this.#meter.onSent(0, offset)
    if (count === this.#control.length) this.#control = []
    else this.#control.splice(0, count)
    return offset
  }

  #writeData({ buffer, room, start, nowMs }: Writing): number {
    const limit = Math.min(buffer.length, room)
    const turn = Math.min(turnBytes, limit - frameHeaderBytes)
    let offset = start
    while (limit - offset > frameHeaderBytes) {
      const sender = this.#order.next(turn)
      if (sender === undefined) break
      const { outgoing } = sender
      if (!outgoing.isReady) continue
      const left = limit - offset - frameHeaderBytes
      const isAlone = this.#order.size === 0
      const most = isAlone ? left : Math.min(left, turnBytes)
      const length = outgoing.take(buffer, offset + frameHeaderBytes, most)
      const isEnd = outgoing.state === 'ended'
      writeFrameHeader(buffer, offset, { type: frameTypes.data, isEnd, stream: sender.id, length })
      offset += frameHeaderBytes + length
      this.#onTaken(sender, length, nowMs)
      if (outgoing.isReady) this.#order.add(sender, false)
      sender.onTaken()
    }
    return offset
  }

  #onTaken({ traffic }: Sender, length: number, nowMs: number): void {
    const { index } = traffic
    const bytes = frameHeaderBytes + length
    this.#meter.onSent(index, bytes)
    this.#order.onSent(index, bytes)
    traffic.moved(bytes, nowMs, this.#bulkAfterBytes)
  }

  #send(buffer: Buffer, end: number, nowMs: number): void {
    this.#unsent += end
    this.#onBytes?.(end)
    this.#rate?.take(end)
    const isCopied = end <= copiedBytesMax
    const bytes = buffer.subarray(0, linkHeadBytes + end)
    const sent = isCopied ? Buffer.from(bytes) : bytes
    if (isCopied) giveBack(buffer)
    this.#link.send(sent, () => {
      this.#unsent -= end
      if (!isCopied) giveBack(buffer)
      if (this.#isWaiting) this.#schedule()
    })
    this.#window.onSent(nowMs)
  }
}

/** The place of data in a message that has control frames before `start`. */
interface Writing {
  readonly buffer: Buffer
  readonly room: number
  readonly start: number
  readonly nowMs: number
}

function bytesOf({ number, text = '' }: ControlFrame): number {
  return frameHeaderBytes + (number === undefined ? 0 : 4) + text.length
}

function writeControlFrame(buffer: Buffer, start: number, frame: ControlFrame): void {
  const { type, isEnd, stream, number, text } = frame
  writeFrameHeader(buffer, start, {
    type,
    isEnd,
    stream,
    length: bytesOf(frame) - frameHeaderBytes,
  })
  let offset = start + frameHeaderBytes
  if (number !== undefined) offset = buffer.writeUInt32BE(number, offset)
  if (text !== undefined) buffer.write(text, offset, 'latin1')
}

function giveBack(buffer: Buffer): void {
  if (buffer.length === bufferBytes && spareBuffers.length < spareBuffersMax) {
    spareBuffers.push(buffer)
  }
}
