import type { ByteBudget } from '../grpc/message-splitter.ts'
import { GrpcError } from '../grpc/grpc-error.ts'
import { MalformedJsonError } from './json-reader.ts'

const [quote, backslash, open, close, openList, closeList] = Buffer.from('"\\{}[]')
const noBytes = Buffer.alloc(0)
const spaces: ReadonlySet<number | undefined> = new Set(Buffer.from(' \t\r\n'))

/**
 * Splits the bytes of one body into the JSON objects that follow each other in it. It holds one object in part, within
 * `bytesMax` and the budget.
 */
export class JsonSplitter {
  readonly #bytesMax: number
  readonly #budget: ByteBudget
  #part = noBytes
  #held = 0
  #depth = 0
  #isInText = false
  #isEscaped = false

  constructor(bytesMax: number, budget: ByteBudget) {
    this.#bytesMax = bytesMax
    this.#budget = budget
  }

  get isBetweenObjects(): boolean {
    return this.#depth === 0
  }

  /** Returns the objects that are whole now. Throws GrpcError and MalformedJsonError. */
  push(chunk: Buffer): string[] {
    const objects: string[] = []
    let from = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (this.#depth === 0) {
        if (spaces.has(byte)) continue
        if (byte !== open) throw new MalformedJsonError('an object is expected')
        from = at
      }
      if (!this.#isAtEnd(byte)) continue
      const parts = [this.#part.subarray(0, this.#held), chunk.subarray(from, at + 1)]
      objects.push(Buffer.concat(parts).toString('utf8'))
      this.clear()
    }
    if (this.#depth > 0) this.#hold(chunk.subarray(from))
    return objects
  }

  /** Gives back what it holds. */
  clear(): void {
    this.#budget.used -= this.#held
    this.#held = 0
    this.#part = noBytes
  }

  /** Returns true if this byte ends the object. */
  #isAtEnd(byte: number | undefined): boolean {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === backslash) this.#isEscaped = true
      else if (byte === quote) this.#isInText = false
      return false
    }
    if (byte === quote) this.#isInText = true
    else if (byte === open || byte === openList) this.#depth += 1
    else if (byte === close || byte === closeList) this.#depth -= 1
    return this.#depth === 0
  }

  /** Copies the bytes, because the chunk may be a small part of a large buffer. */
  #hold(bytes: Buffer): void {
    const held = this.#held + bytes.length
    if (held > this.#bytesMax) {
      const text = `grpc: received message larger than max (${held} vs. ${this.#bytesMax})`
      throw new GrpcError('resourceExhausted', text)
    }
    if (this.#budget.used + bytes.length > this.#budget.max) {
      throw new GrpcError('resourceExhausted', 'etcdserver: too many requests')
    }
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
