/**
 * The frames of a tunnel. A message of the link is one or more whole frames; all numbers are big-endian:
 *
 *     type and flags 1 · length of the payload 3 · stream 4 · payload
 *
 * | type    | payload                                        | from  |
 * |---------|------------------------------------------------|-------|
 * | open    | credit for the answer 4 · head                 | both  |
 * | answer  | head                                           | both  |
 * | data    | bytes of the body, at most the credit there is | both  |
 * | credit  | so many bytes more may come 4                  | both  |
 * | reset   | code 4                                         | both  |
 * | go away | reason in UTF-8; stream 0                      | both  |
 * | traffic | how to send, in JSON; stream 0                 | hub   |
 *
 * Flag 0x80, of open and data: the sender's direction of the stream has ended. `traffic` is sent only to
 * peers that know it, and an agent opens streams only at hubs that know that: see tunnel-features.ts. The numbers of
 * an agent's streams have the highest bit.
 */
export const frameTypes = Object.freeze({
  open: 1,
  answer: 2,
  data: 3,
  credit: 4,
  reset: 5,
  goAway: 6,
  traffic: 7,
})

export type FrameType = (typeof frameTypes)[keyof typeof frameTypes]

/** The numbers of HTTP/2 (RFC 9113, 7). */
export const resetCodes = Object.freeze({ none: 0, internal: 2, refused: 7, cancel: 8 })

export const frameHeaderBytes = 8
/** The credit of each direction of a stream before its first credit frame. */
export const firstCreditBytes = 65_536
/** A sender never has more at once. */
export const creditBytesMax = 0x7fff_ffff
/** Each end counts its own streams up to this. */
export const streamIdMax = 0x7fff_ffff
/** The bit that the numbers of an agent's streams have, and those of a hub have not. */
export const agentStreams = 0x8000_0000

const endFlag = 0x80
const payloadBytesMax = 0xff_ffff

/** The 8 bytes before a payload. */
export interface FrameHeader {
  readonly type: FrameType
  readonly isEnd: boolean
  readonly stream: number
  /** The length of the payload. */
  readonly length: number
}

/** The other end does not keep to the protocol. */
export class FrameError extends Error {
  override name = 'FrameError'
}

/** Parses the header at that offset, all of whose bytes must be present. Throws FrameError for an invalid one. */
export function readFrameHeader(bytes: Buffer, offset: number): FrameHeader {
  const start = bytes.readUInt32BE(offset)
  const flags = start >>> 24
  const header = {
    type: typeOf(flags & ~endFlag),
    isEnd: flags >= endFlag,
    stream: bytes.readUInt32BE(offset + 4),
    length: start & payloadBytesMax,
  }
  checkHeader(header)
  return header
}

/** Writes the 8 bytes before a payload. */
export function writeFrameHeader(target: Buffer, offset: number, frame: FrameHeader): void {
  target[offset] = frame.isEnd ? frame.type | endFlag : frame.type
  target.writeUIntBE(frame.length, offset + 1, 3)
  target.writeUInt32BE(frame.stream, offset + 4)
}

/** Joins lines of Latin-1; no line contains a line feed: see the shapes in tunnel-headers.ts. */
export function headText(lines: readonly string[]): string {
  return lines.join('\n')
}

export function headLines(payload: Buffer): string[] {
  return payload.toString('latin1').split('\n')
}

function typeOf(number: number): FrameType {
  switch (number) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
      return number
    default:
      throw new FrameError(`a frame of unknown type ${number}`)
  }
}

function checkHeader({ type, isEnd, stream, length }: FrameHeader): void {
  const isOfTunnel = type === frameTypes.goAway || type === frameTypes.traffic
  if ((stream === 0) !== isOfTunnel) {
    throw new FrameError(`a frame of type ${type} for stream ${stream}`)
  }
  if (isEnd && type !== frameTypes.open && type !== frameTypes.data) {
    throw new FrameError(`an end in a frame of type ${type}`)
  }
  const bytesWanted = numbersOf[type]
  if (bytesWanted !== undefined && length !== bytesWanted) {
    throw new FrameError(`a frame of type ${type} with ${length} bytes`)
  }
  if (type === frameTypes.open && length < 4) throw new FrameError('a head cut short')
}

const numbersOf: Readonly<Partial<Record<FrameType, number>>> = {
  [frameTypes.credit]: 4,
  [frameTypes.reset]: 4,
}
