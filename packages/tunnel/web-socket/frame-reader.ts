import { isUtf8 } from 'node:buffer'
import { applyMask, controlBytesMax, opcodes, readFrameHead, type FrameHead } from './frame-head.ts'
import { closeCodes, WebSocketFault } from './web-socket-fault.ts'

export interface FrameEvents {
  /** Called with bytes of a binary message, as they come; the last piece of a message may be empty. */
  onPiece(piece: Buffer, isLast: boolean): void
  onPing(payload: Buffer): void
  onPong(payload: Buffer): void
  /** Called for a close; nothing is read after it. */
  onClose(code: number, reason: string): void
}

export interface FrameRules {
  /** A client's frames are masked, and a server's are not (RFC 6455, 5.1). */
  readonly isMaskWanted: boolean
  /** The limit of one message, in all its frames. */
  readonly messageBytesMax: number
}

/**
 * Reads the frames of one WebSocket from arbitrary chunks. Messages are not joined: the part of a message in
 * a chunk is passed on as a view of it. Only heads and control frames wait until they are complete.
 */
export class FrameReader {
  readonly #rules: FrameRules
  readonly #events: FrameEvents
  /** The beginning of a head that is not whole. */
  #cut: Buffer | undefined
  /** The head of the frame whose payload is being read. */
  #frame: FrameHead | undefined
  /** The bytes of that payload read so far. */
  #bytesRead = 0
  /** The pieces of an incomplete control frame. */
  #parts: Buffer[] = []
  #isWithinMessage = false
  #messageBytes = 0
  #isOver = false

  constructor(rules: FrameRules, events: FrameEvents) {
    this.#rules = rules
    this.#events = events
  }

  /** Throws WebSocketFault, and must not be used afterwards. */
  read(chunk: Buffer): void {
    const bytes = this.#cut ? Buffer.concat([this.#cut, chunk]) : chunk
    this.#cut = undefined
    let offset = 0
    while (!this.#isOver) {
      if (this.#frame === undefined) {
        const head = readFrameHead(bytes, offset)
        if (head === undefined) break
        this.#begin(head)
        offset += head.headBytes
      }
      const frame = this.#frame
      if (frame === undefined) break
      const end = Math.min(bytes.length, offset + frame.length - this.#bytesRead)
      if (end === offset && this.#bytesRead < frame.length) return
      this.#onPayload(frame, bytes.subarray(offset, end))
      offset = end
    }
    if (!this.#isOver && offset < bytes.length) this.#cut = Buffer.from(bytes.subarray(offset))
  }

  #begin(head: FrameHead): void {
    const { opcode, isFinal, length, isMasked } = head
    if (isMasked !== this.#rules.isMaskWanted) {
      throw faultOf(isMasked ? 'a frame of a server is masked' : 'a frame of a client has no mask')
    }
    if (opcode >= opcodes.close) {
      if (opcode > opcodes.pong) throw faultOf(`a frame of unknown kind ${opcode}`)
      if (!isFinal || length > controlBytesMax) throw faultOf('a control frame is cut or too long')
    } else this.#beginData(head)
    this.#frame = head
    this.#bytesRead = 0
  }

  #beginData({ opcode, length }: FrameHead): void {
    if (opcode === opcodes.text) {
      throw new WebSocketFault(closeCodes.unsupportedData, 'text is not understood')
    }
    if (opcode > opcodes.binary) throw faultOf(`a frame of unknown kind ${opcode}`)
    if ((opcode === opcodes.continuation) !== this.#isWithinMessage) {
      throw faultOf(
        this.#isWithinMessage ? 'a message starts within another' : 'no message is continued',
      )
    }
    if (!this.#isWithinMessage) this.#messageBytes = 0
    this.#isWithinMessage = true
    this.#messageBytes += length
    if (this.#messageBytes > this.#rules.messageBytesMax) {
      throw new WebSocketFault(closeCodes.tooBig, 'max payload size exceeded')
    }
  }

  #onPayload(frame: FrameHead, view: Buffer): void {
    // The chunk's owner may still read it, so unmasking works on a copy.
    const piece = frame.mask ? Buffer.from(view) : view
    if (frame.mask) applyMask(piece, frame.mask, this.#bytesRead)
    this.#bytesRead += piece.length
    const isWhole = this.#bytesRead === frame.length
    if (isWhole) this.#frame = undefined
    if (frame.opcode >= opcodes.close) return this.#onControl(frame, piece, isWhole)
    const isLast = isWhole && frame.isFinal
    if (isLast) this.#isWithinMessage = false
    if (isLast || piece.length > 0) this.#events.onPiece(piece, isLast)
  }

  #onControl({ opcode }: FrameHead, piece: Buffer, isWhole: boolean): void {
    if (!isWhole || this.#parts.length > 0) this.#parts.push(piece)
    if (!isWhole) return
    const payload = this.#parts.length > 0 ? Buffer.concat(this.#parts) : piece
    if (this.#parts.length > 0) this.#parts = []
    if (opcode === opcodes.ping) return this.#events.onPing(payload)
    if (opcode === opcodes.pong) return this.#events.onPong(payload)
    this.#isOver = true
    this.#onClose(payload)
  }

  #onClose(payload: Buffer): void {
    if (payload.length === 0) return this.#events.onClose(closeCodes.none, '')
    if (payload.length === 1) throw faultOf('a close has half a code')
    const code = payload.readUInt16BE(0)
    if (!isSentCode(code)) throw faultOf(`a close has the code ${code}`)
    const text = payload.subarray(2)
    if (!isUtf8(text)) throw new WebSocketFault(closeCodes.invalidText, 'a close is not UTF-8')
    this.#events.onClose(code, text.toString('utf8'))
  }
}

/** Accepts the codes of RFC 6455, 7.4.2, and those registered since. */
function isSentCode(code: number): boolean {
  if (code >= 3_000) return code < 5_000
  return code >= 1_000 && code <= 1_014 && !neverSent.has(code)
}

const neverSent: ReadonlySet<number> = new Set([1_004, closeCodes.none, closeCodes.cut])

function faultOf(message: string): WebSocketFault {
  return new WebSocketFault(closeCodes.protocolError, message)
}
