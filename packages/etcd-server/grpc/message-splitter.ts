import { GrpcError } from './grpc-error.ts'

/** Counts bytes that the whole server holds for its peers. */
export interface ByteBudget {
  used: number
  readonly max: number
}

/** A flag of one byte and a length of four. */
export const prefixBytes = 5
const noBytes = Buffer.alloc(0)

/**
 * Splits the bytes of one stream into messages: a flag of one byte, a length of four, the message. It holds one
 * message in part, within `bytesMax` and the budget, and takes no more room than has arrived, however long the peer
 * says that the message is.
 */
export class MessageSplitter {
  readonly #bytesMax: number
  readonly #budget: ByteBudget
  #part = noBytes
  #held = 0

  constructor(bytesMax: number, budget: ByteBudget) {
    this.#bytesMax = bytesMax
    this.#budget = budget
  }

  get isBetweenMessages(): boolean {
    return this.#held === 0
  }

  /** Returns the messages that are whole now. Throws GrpcError. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = []
    let rest = this.#held === 0 ? chunk : this.#joined(chunk)
    while (rest.length >= prefixBytes) {
      const end = prefixBytes + this.#sizeOf(rest)
      if (rest.length < end) break
      messages.push(rest.subarray(prefixBytes, end))
      rest = rest.subarray(end)
    }
    if (rest.length > 0) this.#hold(rest)
    return messages
  }

  /** Gives back what it holds. */
  clear(): void {
    this.#budget.used -= this.#held
    this.#held = 0
    this.#part = noBytes
  }

  /** Returns no bytes while the chunk does not complete the message. */
  #joined(chunk: Buffer): Buffer {
    const head = this.#part.subarray(0, this.#held)
    const wanted = head.length < prefixBytes ? prefixBytes : prefixBytes + this.#sizeOf(head)
    if (head.length + chunk.length < wanted) {
      this.#hold(chunk)
      return noBytes
    }
    const whole = Buffer.concat([head, chunk])
    this.clear()
    return whole
  }

  #sizeOf(bytes: Buffer): number {
    if (bytes[0] !== 0) {
      // No encoding is offered, so a peer that compresses did not ask.
      const text = 'grpc: compressed flag set with identity or empty encoding'
      throw new GrpcError('internal', text)
    }
    const size = bytes.readUInt32BE(1)
    if (size <= this.#bytesMax) return size
    const text = `grpc: received message larger than max (${size} vs. ${this.#bytesMax})`
    throw new GrpcError('resourceExhausted', text)
  }

  /** Copies the bytes, because the chunk may be a small part of a large buffer. */
  #hold(bytes: Buffer): void {
    if (this.#budget.used + bytes.length > this.#budget.max) {
      throw new GrpcError('resourceExhausted', 'etcdserver: too many requests')
    }
    const held = this.#held + bytes.length
    if (held > this.#part.length) {
      const larger = Buffer.allocUnsafe(Math.max(held, this.#part.length * 2))
      this.#part.copy(larger, 0, 0, this.#held)
      this.#part = larger
    }
    bytes.copy(this.#part, this.#held)
    this.#budget.used += bytes.length
    this.#held = held
  }
}
