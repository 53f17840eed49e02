import type { OutgoingBytes } from './outgoing-bytes.ts'
import { frameHeaderBytes, frameTypes, writeFrameHeader, type FrameType } from './tunnel-frame.ts'
import type { TunnelLink } from './tunnel-link.ts'

/**
 * With the WebSocket's own header three full TLS records; and just below what the launcher's
 * settings make the allocator map anew each time (cmd/launcher).
 */
const messageBytesMax = 3 * 16_384 - 8
/** One stream's turn while others wait. */
const turnBytes = 16_384 - frameHeaderBytes
/** Given to the link and not yet taken by the kernel: more would only make small frames wait. */
const unsentBytesMax = 131_072
/** Smaller messages are copied out of their buffer, which is used again. */
const copiedBytesMax = 8_192
/** Buffers that wait for their next use, in the process. */
const spareBuffersMax = 32

const spareBuffers: Buffer[] = []

/** A frame that carries no body; sent before those that do. */
export interface ControlFrame {
  readonly type: Exclude<FrameType, typeof frameTypes.data>
  readonly isEnd: boolean
  readonly stream: number
  /** Before the text: 4 bytes, big-endian. */
  readonly number?: number
  /** Latin-1. */
  readonly text?: string
}

/** A stream that may have something to send. */
export interface Sender {
  readonly id: number
  readonly outgoing: OutgoingBytes
  /** Something was taken. */
  onTaken(): void
}

/**
 * Gathers what is to be sent in one turn of the event loop into few messages. Control frames go
 * first; then streams that had nothing waiting, with one turn each; then the others in turns, so that
 * a small answer never stands behind bulk.
 */
export class SendQueue {
  readonly #link: TunnelLink
  #control: ControlFrame[] = []
  #controlBytes = 0
  readonly #fresh: Sender[] = []
  readonly #bulk: Sender[] = []
  readonly #waiting = new Set<Sender>()
  #unsent = 0
  #isScheduled = false

  constructor(link: TunnelLink) {
    this.#link = link
  }

  /** Bytes of control frames that wait. */
  get controlBytes(): number {
    return this.#controlBytes
  }

  control(frame: ControlFrame): void {
    this.#control.push(frame)
    this.#controlBytes += bytesOf(frame)
    this.#schedule()
  }

  /** The sender may have become ready. */
  offer(sender: Sender): void {
    if (!sender.outgoing.isReady || this.#waiting.has(sender)) return
    this.#waiting.add(sender)
    this.#fresh.push(sender)
    this.#schedule()
  }

  /** Everything that waits and may leave goes to the link now, however much that is. */
  flush(): void {
    this.#flush(Infinity)
  }

  #schedule(): void {
    if (this.#isScheduled || this.#unsent >= unsentBytesMax) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush(unsentBytesMax)
    })
  }

  #flush(most: number): void {
    while (this.#unsent < most) {
      if (this.#control.length === 0 && this.#waiting.size === 0) return
      const buffer = this.#bufferForNext()
      const controlEnd = this.#writeControl(buffer)
      const end = this.#control.length === 0 ? this.#writeData(buffer, controlEnd) : controlEnd
      if (end > 0) this.#send(buffer, end)
      else giveBack(buffer)
    }
  }

  /** One head may be larger than a message usually is. */
  #bufferForNext(): Buffer {
    const [first] = this.#control
    if (first !== undefined && bytesOf(first) > messageBytesMax) {
      return Buffer.allocUnsafeSlow(bytesOf(first))
    }
    return spareBuffers.pop() ?? Buffer.allocUnsafeSlow(messageBytesMax)
  }

  #writeControl(buffer: Buffer): number {
    let offset = 0
    let count = 0
    for (const frame of this.#control) {
      const bytes = bytesOf(frame)
      if (offset + bytes > buffer.length) break
      writeControlFrame(buffer, offset, frame)
      offset += bytes
      count += 1
    }
    this.#controlBytes -= offset
    if (count === this.#control.length) this.#control = []
    else this.#control.splice(0, count)
    return offset
  }

  #writeData(buffer: Buffer, start: number): number {
    let offset = start
    while (buffer.length - offset > frameHeaderBytes) {
      const sender = this.#fresh.shift() ?? this.#bulk.shift()
      if (sender === undefined) break
      this.#waiting.delete(sender)
      const { outgoing } = sender
      if (!outgoing.isReady) continue
      const room = buffer.length - offset - frameHeaderBytes
      const isAlone = this.#waiting.size === 0
      const length = outgoing.take(
        buffer,
        offset + frameHeaderBytes,
        isAlone ? room : Math.min(room, turnBytes),
      )
      const isEnd = outgoing.isEndTaken
      writeFrameHeader(buffer, offset, { type: frameTypes.data, isEnd, stream: sender.id, length })
      offset += frameHeaderBytes + length
      if (outgoing.isReady) {
        this.#waiting.add(sender)
        this.#bulk.push(sender)
      }
      sender.onTaken()
    }
    return offset
  }

  #send(buffer: Buffer, end: number): void {
    this.#unsent += end
    const isCopied = end <= copiedBytesMax
    const message = isCopied ? Buffer.from(buffer.subarray(0, end)) : buffer.subarray(0, end)
    if (isCopied) giveBack(buffer)
    this.#link.send(message, () => {
      this.#unsent -= end
      if (!isCopied) giveBack(buffer)
      if (this.#control.length > 0 || this.#waiting.size > 0) this.#schedule()
    })
  }
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
  if (buffer.length === messageBytesMax && spareBuffers.length < spareBuffersMax) {
    spareBuffers.push(buffer)
  }
}
