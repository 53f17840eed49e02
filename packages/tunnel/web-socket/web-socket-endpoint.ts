import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '@skerry/base'
import { applyMask, frameHeadBytesMax, opcodes, writeFrameHead } from './frame-head.ts'
import { FrameReader, type FrameEvents } from './frame-reader.ts'
import { closeCodes, WebSocketFault } from './web-socket-fault.ts'
import { tunnelBounds } from '../limits-table.ts'

const { closeMs, pongsUnsentMax } = tunnelBounds.webSocketEndpoint
const closeReasonBytesMax = 123

/**
 * How sent frames are masked. A hub masks nothing. A client must (RFC 6455, 5.3): that protects
 * intermediaries that read plain text from chosen bytes. Within TLS there are none, and a mask of zeros saves
 * a pass over every byte.
 */
export type Masks = 'none' | 'zeros' | 'random'

export interface EndpointOptions {
  readonly masks: Masks
  readonly messageBytesMax: number
  readonly clock: Pick<Clock, 'setTimer'>
}

export interface EndpointEvents extends Pick<FrameEvents, 'onPiece' | 'onPong'> {
  /** Called for a ping, which is answered automatically. */
  onPing(payload: Buffer): void
  /** The connection is closed; `fault` where it failed, or the other end broke the protocol. Called once. */
  onClosed(code: number, reason: string, fault: Error | undefined): void
}

/** One end of an open WebSocket (RFC 6455) over its own socket, for binary messages only. */
export class WebSocketEndpoint {
  readonly #socket: Duplex
  readonly #masks: Masks
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #events: EndpointEvents
  readonly #reader: FrameReader
  #timer: Timer | undefined
  #isCloseSent = false
  #isCloseHeard = false
  #code: number = closeCodes.cut
  #reason = ''
  #fault: Error | undefined
  #pongsUnsent = 0
  /** The answer owed to the newest ping, if there are too many. */
  #pongOwed: Buffer | undefined

  /** Nothing is read before start(). */
  constructor(socket: Duplex, options: EndpointOptions, events: EndpointEvents) {
    this.#socket = socket
    this.#masks = options.masks
    this.#clock = options.clock
    this.#events = events
    this.#reader = new FrameReader(
      { isMaskWanted: options.masks === 'none', messageBytesMax: options.messageBytesMax },
      {
        onPiece: (piece, isLast) => events.onPiece(piece, isLast),
        onPing: (payload) => this.#onPing(payload),
        onPong: (payload) => events.onPong(payload),
        onClose: (code, reason) => this.#onClose(code, reason),
      },
    )
    socket.on('error', (error) => (this.#fault ??= error))
    socket.once('close', () => this.#onSocketClosed())
  }

  /** False once a close was sent or heard. */
  get isOpen(): boolean {
    return !this.#isCloseSent && !this.#socket.destroyed
  }

  start(): void {
    this.#socket.on('data', (chunk: Buffer) => this.#onChunk(chunk))
    this.#socket.once('end', () => this.#onEnd())
  }

  /** Stops reading, so that the other end waits; bytes that were already read still come. */
  pause(): void {
    this.#socket.pause()
  }
  resume(): void {
    this.#socket.resume()
  }

  /**
   * Sends one message. It follows `frameHeadBytesMax` free bytes for its head, in memory that the endpoint
   * may change until it calls `onSent`: when the kernel has taken it, or never will.
   */
  send(bytes: Buffer, onSent: () => void): void {
    if (!this.isOpen) return onSent()
    this.#write(opcodes.binary, bytes, onSent)
  }

  /** Sends at most 125 bytes. */
  ping(payload: Buffer): void {
    if (this.isOpen) this.#write(opcodes.ping, behindHead(payload))
  }

  /** Sends a close; ends the connection when the other end has closed, too, or does not in time. */
  close(code: number, reason: string): void {
    if (this.#isCloseSent) return
    this.#writeClose(code, reason)
    this.#wait()
  }

  /** Ends it at once. */
  terminate(): void {
    this.#socket.destroy()
  }

  #onChunk(chunk: Buffer): void {
    // After a fault the rest is discarded, so that the other end can read the reason.
    if (this.#isCloseHeard || this.#fault) return
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!(error instanceof WebSocketFault)) throw error
      this.#fault = error
      this.close(error.code, error.message)
      this.#socket.end()
    }
  }

  #onPing(payload: Buffer): void {
    this.#events.onPing(payload)
    if (!this.isOpen) return
    if (this.#pongsUnsent >= pongsUnsentMax) this.#pongOwed = Buffer.from(payload)
    else this.#answer(payload)
  }

  #answer(payload: Buffer): void {
    this.#pongsUnsent += 1
    this.#write(opcodes.pong, behindHead(payload), () => {
      this.#pongsUnsent -= 1
      const owed = this.#pongOwed
      this.#pongOwed = undefined
      if (owed && this.isOpen) this.#answer(owed)
    })
  }

  #onClose(code: number, reason: string): void {
    this.#isCloseHeard = true
    this.#code = code
    this.#reason = reason
    if (!this.#isCloseSent) this.#writeClose(code, reason)
    this.#wait()
    // The server ends the connection; a client waits for it (RFC 6455, 7.1.1).
    if (this.#masks === 'none') this.#socket.end()
  }

  #onEnd(): void {
    if (this.#isCloseHeard && this.#isCloseSent) this.#socket.end()
    else this.#socket.destroy()
  }

  #onSocketClosed(): void {
    this.#timer?.[Symbol.dispose]()
    this.#events.onClosed(this.#code, this.#reason, this.#fault)
  }

  #wait(): void {
    this.#timer ??= this.#clock.setTimer(closeMs, () => this.#socket.destroy())
    // Only the other end's close comes now, and nothing holds it back any more.
    this.#socket.resume()
  }

  #writeClose(code: number, reason: string): void {
    this.#isCloseSent = true
    if (this.#socket.destroyed) return
    const hasCode = code !== closeCodes.none
    const text = hasCode ? shortened(reason) : ''
    const payload = Buffer.alloc(hasCode ? 2 + Buffer.byteLength(text) : 0)
    if (hasCode) payload.writeUInt16BE(code, 0)
    payload.write(text, Math.min(2, payload.length))
    this.#write(opcodes.close, behindHead(payload))
  }

  #write(opcode: number, bytes: Buffer, onSent?: () => void): void {
    const length = bytes.length - frameHeadBytesMax
    const mask = this.#nextMask()
    const start = writeFrameHead(bytes, frameHeadBytesMax, { opcode, length, mask })
    if (mask && this.#masks === 'random') applyMask(bytes.subarray(frameHeadBytesMax), mask)
    this.#socket.write(start === 0 ? bytes : bytes.subarray(start), onSent)
  }

  #nextMask(): Buffer | undefined {
    if (this.#masks === 'none') return undefined
    return this.#masks === 'zeros' ? zeros : randomBytes(4)
  }
}

const zeros = Buffer.alloc(4)

/** A copy of it behind the room that its head takes. */
export function behindHead(payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytesMax + payload.length)
  bytes.set(payload, frameHeadBytesMax)
  return bytes
}

/** Cuts between characters: a close carries at most 123 bytes of UTF-8 (RFC 6455, 5.5). */
function shortened(reason: string): string {
  let text = reason.slice(0, closeReasonBytesMax)
  while (Buffer.byteLength(text) > closeReasonBytesMax) text = text.slice(0, -1)
  return text.toWellFormed()
}
