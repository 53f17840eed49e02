import { Duplex } from 'node:stream'
import type { Http2Stream, StreamHandler } from '@skerry/http2-server'

/** One request over HTTP/2 as a stream of Node: its content is read, and the content of its answer is written. */
export class Http2Duplex extends Duplex implements StreamHandler {
  readonly stream: Http2Stream
  #written: { bytesLeft: number; done: () => void } | undefined

  constructor(stream: Http2Stream) {
    super()
    this.stream = stream
  }

  onData(bytes: Buffer): void {
    if (!this.push(Buffer.from(bytes))) this.stream.pause()
  }

  onEnd(): void {
    this.push(null)
  }

  onTaken(bytes: number): void {
    const written = this.#written
    if (written === undefined) return
    written.bytesLeft -= bytes
    if (written.bytesLeft > 0) return
    this.#written = undefined
    written.done()
  }

  onClose(): void {
    this.destroy()
  }

  override _read(): void {
    this.stream.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#written = { bytesLeft: chunk.length, done }
    this.stream.write(chunk)
    if (chunk.length === 0) this.onTaken(0)
  }

  override _final(done: () => void): void {
    this.stream.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // An answer that is complete still goes to its reader.
    if (!this.stream.isEnding) this.stream.reset('cancel')
    done(error)
  }
}
