import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { etcdServerBounds } from '../limits-table.ts'
import { frameHeadLength, frameTypes, mendAuthority, preface } from './url-authority.ts'

const { frameBytesMax } = etcdServerBounds.grpcServer

/**
 * A connection of HTTP/2 whose client sends URLs as `:authority`. It is slower than its socket, because its bytes go
 * through JavaScript, so only connections that need it get one.
 */
export class AuthorityFilter extends Duplex {
  readonly socket: Socket
  #held: Buffer = Buffer.alloc(0)
  /** The bytes that pass before the next frame. */
  #passing = preface.length

  constructor(socket: Socket) {
    super({ allowHalfOpen: true })
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      for (const part of this.#mended(chunk)) if (!this.push(part)) socket.pause()
    })
    socket.once('end', () => this.push(null))
    socket.once('close', () => this.destroy())
    socket.once('error', (error) => this.destroy(error))
  }

  override _read(): void {
    this.socket.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy()
    done(error)
  }

  #mended(chunk: Buffer): Buffer[] {
    const parts: Buffer[] = []
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = Buffer.alloc(0)
    while (rest.length > 0) {
      if (this.#passing === 0 && !this.#takeHead(rest)) {
        this.#held = Buffer.from(rest)
        break
      }
      const part = rest.subarray(0, this.#passing)
      parts.push(part)
      this.#passing -= part.length
      rest = rest.subarray(part.length)
    }
    return parts
  }

  /** Returns false if more of the frame must arrive first. */
  #takeHead(bytes: Buffer): boolean {
    if (bytes.length < frameHeadLength) return false
    const length = bytes.readUIntBE(0, 3)
    const end = frameHeadLength + length
    if (bytes[3] === frameTypes.headers && length <= frameBytesMax) {
      if (bytes.length < end) return false
      mendAuthority(bytes.subarray(frameHeadLength, end), bytes[4] ?? 0)
    }
    this.#passing = end
    return true
  }
}
