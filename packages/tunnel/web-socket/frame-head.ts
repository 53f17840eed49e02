import { closeCodes, WebSocketFault } from './web-socket-fault.ts'

/** The opcodes of RFC 6455, 5.2. */
export const opcodes = Object.freeze({
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
})

/** The payload limit of a close, a ping or a pong (RFC 6455, 5.5). */
export const controlBytesMax = 125
/** The longest head: 2 bytes, a length of 8, a mask of 4. */
export const frameHeadBytesMax = 14

const finBit = 0x80
const reservedBits = 0x70
const maskBit = 0x80
const length16 = 126
const length64 = 127

export interface FrameHead {
  readonly opcode: number
  readonly isFinal: boolean
  readonly length: number
  /** Undefined if the payload needs no unmasking: there is no mask, or one of zeros. */
  readonly mask: Buffer | undefined
  readonly isMasked: boolean
  /** The length of the head itself. */
  readonly headBytes: number
}

/**
 * Returns undefined while it is incomplete. A length in more bytes than necessary is accepted, as by others.
 * Throws WebSocketFault for reserved bits and for lengths beyond a number's precision.
 */
export function readFrameHead(bytes: Buffer, offset: number): FrameHead | undefined {
  const [first, second] = [bytes[offset], bytes[offset + 1]]
  if (first === undefined || second === undefined) return undefined
  if ((first & reservedBits) !== 0) throw faultOf('a frame has reserved bits')
  const isMasked = (second & maskBit) !== 0
  const short = second & ~maskBit
  const lengthBytes = short === length64 ? 8 : short === length16 ? 2 : 0
  const maskAt = offset + 2 + lengthBytes
  const end = maskAt + (isMasked ? 4 : 0)
  if (bytes.length < end) return undefined
  return {
    opcode: first & 0x0f,
    isFinal: (first & finBit) !== 0,
    length: lengthBytes === 0 ? short : longLength(bytes, offset + 2, lengthBytes),
    mask: isMasked && bytes.readUInt32BE(maskAt) !== 0 ? maskOf(bytes, maskAt) : undefined,
    isMasked,
    headBytes: end - offset,
  }
}

/**
 * Writes the head of a final frame so that it ends at `end`; returns where it begins. The mask has 4 bytes,
 * or is omitted.
 */
export function writeFrameHead(
  target: Buffer,
  end: number,
  { opcode, length, mask }: { opcode: number; length: number; mask: Buffer | undefined },
): number {
  const lengthBytes = length < length16 ? 0 : length < 65_536 ? 2 : 8
  const start = end - 2 - lengthBytes - (mask ? 4 : 0)
  const bit = mask ? maskBit : 0
  target[start] = finBit | opcode
  target[start + 1] = bit | (lengthBytes === 0 ? length : lengthBytes === 2 ? length16 : length64)
  if (lengthBytes === 2) target.writeUInt16BE(length, start + 2)
  if (lengthBytes === 8) target.writeBigUInt64BE(BigInt(length), start + 2)
  if (mask) mask.copy(target, end - 4)
  return start
}

/** XORs in place; `at` is the position of the bytes in the payload (RFC 6455, 5.3). */
export function applyMask(bytes: Buffer, mask: Buffer, at = 0): void {
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = (bytes[index] ?? 0) ^ (mask[(at + index) & 3] ?? 0)
  }
}

function longLength(bytes: Buffer, offset: number, lengthBytes: number): number {
  if (lengthBytes === 2) return bytes.readUInt16BE(offset)
  const length = bytes.readBigUInt64BE(offset)
  if (length > BigInt(Number.MAX_SAFE_INTEGER)) throw faultOf('a frame has an impossible length')
  return Number(length)
}

function maskOf(bytes: Buffer, offset: number): Buffer {
  return Buffer.from(bytes.subarray(offset, offset + 4))
}

function faultOf(message: string): WebSocketFault {
  return new WebSocketFault(closeCodes.protocolError, message)
}
