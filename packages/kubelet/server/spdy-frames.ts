import { kubeletBounds } from '../limits-table.ts'

/**
 * The few frames of SPDY/3.1 that a client of the container runtime's streaming server needs. Headers
 * go out as stored blocks of the compression format, which needs no compressor; those that come in
 * are not read.
 */
export type SpdyFrame =
  | {
      readonly type: 'data'
      readonly stream: number
      readonly payload: Buffer
      readonly isLast: boolean
    }
  | { readonly type: 'ping'; readonly id: number }
  /** The stream is gone, or the whole session (stream 0). */
  | { readonly type: 'reset'; readonly stream: number }

const headBytes = 8
const finFlag = 1
const controlHead = 0x80_03
const synStream = 1
const rstStream = 3
const ping = 6
const goAway = 7
const { frameBytesMax } = kubeletBounds.spdyFrames
const storedBlockBytesMax = 0xff_ff

/** Writes one session's header blocks, which all share one compressed stream, opened by the first. */
export class SpdyWriter {
  #isFirstBlock = true

  /** Opens a stream; the client's have odd numbers in rising order. */
  open(stream: number, headers: Readonly<Record<string, string>>): Buffer {
    const block = this.#headerBlock(headers)
    const head = Buffer.alloc(10)
    head.writeUInt32BE(stream, 0)
    return control(synStream, [head, block])
  }

  data(stream: number, payload: Uint8Array, { isLast }: { isLast: boolean }): Buffer {
    const head = Buffer.alloc(headBytes)
    head.writeUInt32BE(stream, 0)
    head.writeUInt32BE(payload.length, 4)
    head[4] = isLast ? finFlag : 0
    return Buffer.concat([head, payload])
  }

  pong(id: number): Buffer {
    const body = Buffer.alloc(4)
    body.writeUInt32BE(id)
    return control(ping, [body])
  }

  #headerBlock(headers: Readonly<Record<string, string>>): Buffer {
    const entries = Object.entries(headers)
    const parts = [sized(entries.length)]
    for (const text of entries.flat()) parts.push(sized(Buffer.byteLength(text)), Buffer.from(text))
    const plain = Buffer.concat(parts)
    if (plain.length > storedBlockBytesMax) {
      throw new RangeError(`Cannot open a stream: its headers have ${plain.length} bytes`)
    }
    const opening = this.#isFirstBlock ? Buffer.of(0x78, 0x01) : Buffer.alloc(0)
    this.#isFirstBlock = false
    // An empty block makes the reader deliver what came before it.
    return Buffer.concat([opening, stored(plain), stored(Buffer.alloc(0))])
  }
}

function sized(length: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(length)
  return out
}

function stored(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt16LE(bytes.length, 1)
  head.writeUInt16LE(~bytes.length & 0xff_ff, 3)
  return Buffer.concat([head, bytes])
}

function control(type: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(headBytes)
  head.writeUInt16BE(controlHead, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt32BE(body.length, 4)
  return Buffer.concat([head, body])
}

/** Cuts incoming bytes into frames; keeps at most one incomplete frame. */
export class SpdyParser {
  #pending: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): SpdyFrame[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const frames: SpdyFrame[] = []
    while (this.#pending.length >= headBytes) {
      const length = this.#pending.readUIntBE(5, 3)
      if (length > frameBytesMax) {
        throw new RangeError(`Cannot read the runtime's stream: a frame of ${length} bytes`)
      }
      if (this.#pending.length < headBytes + length) break
      const frame = frameOf(this.#pending.subarray(0, headBytes + length))
      this.#pending = this.#pending.subarray(headBytes + length)
      if (frame) frames.push(frame)
    }
    return frames
  }
}

/** Returns undefined for frames that require no action of this side. */
function frameOf(bytes: Buffer): SpdyFrame | undefined {
  const first = bytes.readUInt32BE(0)
  const isLast = ((bytes[4] ?? 0) & finFlag) !== 0
  const body = bytes.subarray(headBytes)
  if (first < 0x80_00_00_00) return { type: 'data', stream: first, payload: body, isLast }
  const type = first & 0xff_ff
  if (type === ping && body.length >= 4) return { type: 'ping', id: body.readUInt32BE(0) }
  if (type === rstStream && body.length >= 4) return { type: 'reset', stream: body.readUInt32BE(0) }
  if (type === goAway) return { type: 'reset', stream: 0 }
  return undefined
}
