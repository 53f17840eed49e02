import type { Socket } from 'node:net'
import type { Clock } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import { frameHeadLength, frameTypes, mendAuthority, preface } from './url-authority.ts'

const { prefaceMs, greetingBytesMax } = etcdServerBounds.grpcServer

const acknowledged = 0x01
/** A frame SETTINGS that sets nothing; gRPC's clients send no request before they have one. */
const greeting = Buffer.from([0, 0, 0, frameTypes.settings, 0, 0, 0, 0, 0])

/**
 * Looks at the first request of a connection of HTTP/2, puts its bytes back, and says whether its `:authority` is a URL.
 * A client that waits for the server's settings gets empty ones; Node, which sends its own later, never sees that they
 * were acknowledged. A connection that stays quiet is handed over as it is.
 */
export function readFirstHeaders(
  socket: Socket,
  clock: Clock,
  onKnown: (hasUrl: boolean) => void,
): void {
  const first = new FirstFrames()
  let isGreeted = false
  const end = (): void => {
    timer[Symbol.dispose]()
    socket.off('data', onData)
    socket.pause()
    socket.unshift(first.bytes)
    onKnown(first.hasUrl)
  }
  const timer = clock.setTimer(prefaceMs, () => {
    if (isGreeted && !first.isAcknowledged) socket.destroy()
    else end()
  })
  const onData = (chunk: Buffer): void => {
    first.push(chunk, isGreeted)
    if (first.bytes.length > greetingBytesMax) return void socket.destroy()
    if (!first.isHttp2 || (first.isDecided && (!isGreeted || first.isAcknowledged))) return end()
    if (isGreeted || first.isDecided || !first.hasFrame) return
    isGreeted = true
    socket.write(greeting)
  }
  socket.once('close', () => timer[Symbol.dispose]())
  socket.on('data', onData)
  socket.resume()
}

/** The first bytes of a connection, as far as they have arrived. */
class FirstFrames {
  bytes: Buffer = Buffer.alloc(0)
  hasUrl = false
  /** True once the first request has arrived, or a frame that waits for an answer. */
  isDecided = false
  isAcknowledged = false
  hasFrame = false
  #at = preface.length

  get isHttp2(): boolean {
    const seen = this.bytes.subarray(0, preface.length)
    return seen.equals(preface.subarray(0, seen.length))
  }

  push(chunk: Buffer, isGreeted: boolean): void {
    this.bytes = Buffer.concat([this.bytes, chunk])
    while (this.bytes.length >= this.#at + frameHeadLength) {
      const type = this.bytes[this.#at + 3]
      const flags = this.bytes[this.#at + 4] ?? 0
      const end = this.#at + frameHeadLength + this.bytes.readUIntBE(this.#at, 3)
      if (type === frameTypes.headers && !this.isDecided) {
        if (this.bytes.length < end) return
        const payload = Buffer.from(this.bytes.subarray(this.#at + frameHeadLength, end))
        this.hasUrl = mendAuthority(payload, flags)
      }
      if (type === frameTypes.headers || type === frameTypes.ping) this.isDecided = true
      const isReply = type === frameTypes.settings && (flags & acknowledged) !== 0
      if (isReply && isGreeted && !this.isAcknowledged) {
        this.isAcknowledged = true
        const rest = this.bytes.subarray(end)
        this.bytes = Buffer.concat([this.bytes.subarray(0, this.#at), rest])
        continue
      }
      this.hasFrame = true
      this.#at = end
    }
  }
}
