import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { frameTypes } from '../frames/frame-types.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

const noBytes: Buffer = Buffer.alloc(0)
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** POST http / x, from the static table, and a literal path. */
export const requestBlock = Buffer.from([0x83, 0x86, 0x84, 0x01, 1, 0x78])

export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = noBytes,
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, payload])
}

export const emptySettings = frame(frameTypes.settings, 0, 0)

/** HEADERS of a request that goes on, or ends. */
export function requestFrame(
  streamId: number,
  isLast = false,
  block: Buffer = requestBlock,
): Buffer {
  return frame(frameTypes.headers, isLast ? 0x05 : 0x04, streamId, block)
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A peer that sends any bytes, and shows the frames that come. */
export class RawPeer implements Disposable {
  readonly socket: Socket
  readonly frames: Frame[] = []
  #rest: Buffer = noBytes

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  /** Sends the preface, settings, and these frames. */
  greet(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat([preface, emptySettings, ...frames]))
  }

  /** Resolves with the frame once it has come; rejects if the connection ends before. */
  async until(isWanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(isWanted)
      if (found) return found
      if (this.socket.closed) throw new Error('The connection has ended')
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')])
    }
  }

  /** Resolves with the code of GOAWAY once the connection has ended; -1 if there was none. */
  async endCode(): Promise<number> {
    if (!this.socket.closed) await once(this.socket, 'close')
    const goaway = this.frames.find(({ type }) => type === frameTypes.goaway)
    return goaway ? goaway.payload.readUInt32BE(4) : -1
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= 9 && this.#rest.length >= 9 + this.#rest.readUIntBE(0, 3)) {
      const end = 9 + this.#rest.readUIntBE(0, 3)
      this.frames.push({
        type: this.#rest[3] ?? 0,
        flags: this.#rest[4] ?? 0,
        streamId: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(9, end),
      })
      this.#rest = this.#rest.subarray(end)
    }
  }
}
