import { frameFlags } from '../frames/frame-types.ts'
import { ConnectionError } from '../frames/http2-error.ts'

/** Bytes from `from` up to `end`. */
export interface Payload {
  readonly bytes: Buffer
  readonly from: number
  readonly end: number
}

interface PaddedFrame extends Payload {
  readonly flags: number
  readonly streamId: number
}

/** Returns where the content of a frame is that may be padded (RFC 9113, section 6.1). Throws ConnectionError. */
export function contentOf({ bytes, from, end, flags }: PaddedFrame): { from: number; end: number } {
  if ((flags & frameFlags.padded) === 0) return { from, end }
  const first = from + 1
  const last = end - (bytes[from] ?? 0)
  if (from === end || last < first) {
    throw new ConnectionError('protocolError', 'there is more padding than frame')
  }
  return { from: first, end: last }
}

/** Returns where the header block of HEADERS is (RFC 9113, section 6.2). Throws ConnectionError. */
export function priorityOf(frame: PaddedFrame): { from: number; end: number } {
  const { from, end } = contentOf(frame)
  if ((frame.flags & frameFlags.priority) === 0) return { from, end }
  if (end - from < 5) throw new ConnectionError('frameSizeError', 'HEADERS are cut off')
  if ((frame.bytes.readUInt32BE(from) & 0x7fffffff) === frame.streamId) {
    throw new ConnectionError('protocolError', 'a stream depends on itself')
  }
  return { from: from + 5, end }
}
