import { baseBounds } from '../limits-table.ts'

const { startBytes } = baseBounds.protoWriter
const safeIntegerMax = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Writes one protobuf message from its end to its start, so that the length of a field's content is
 * known when its tag is written. Callers write fields in descending order.
 */
export class ProtoWriter {
  #bytes = Buffer.allocUnsafe(startBytes)
  #at: number = startBytes

  /** The number of bytes written so far. The bytes since a mark are a field's content. */
  get length(): number {
    return this.#bytes.length - this.#at
  }

  /** Starts again and keeps the memory. */
  clear(): void {
    this.#at = this.#bytes.length
  }

  /** Returns a copy of the bytes. */
  done(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(this.#at))
  }

  /** Returns the bytes themselves; they change with the next that is written. */
  view(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  /** Writes the tag and length of the bytes written since `mark`. */
  close(field: number, mark: number): void {
    this.varint(this.length - mark)
    this.tag(field, 2)
  }

  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire)
  }

  /** Writes any whole number that a double holds; negative ones as 64 bits. */
  varint(value: number): void {
    if (value < 0 || value > Number.MAX_SAFE_INTEGER) return this.#bigVarint(BigInt(value))
    let size = 1
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1
    let at = this.#room(size)
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[at++] = (rest % 128) | 0x80
    this.#bytes[at] = rest
  }

  /** Writes a signed or unsigned 64-bit number. */
  varint64(value: bigint): void {
    if (value >= 0n && value <= safeIntegerMax) return this.varint(Number(value))
    this.#bigVarint(value)
  }

  double(value: number): void {
    // Making room may replace the buffer, so it comes first.
    const at = this.#room(8)
    this.#bytes.writeDoubleLE(value, at)
  }

  text(value: string): void {
    const at = this.#room(Buffer.byteLength(value))
    this.#bytes.write(value, at, 'utf8')
  }

  raw(value: Uint8Array): void {
    const at = this.#room(value.length)
    this.#bytes.set(value, at)
  }

  #bigVarint(value: bigint): void {
    const out: number[] = []
    let rest = BigInt.asUintN(64, value)
    for (; rest >= 128n; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80)
    out.push(Number(rest))
    this.raw(Uint8Array.from(out))
  }

  /** Returns the position of the next `size` bytes. */
  #room(size: number): number {
    if (size > this.#at) {
      const used = this.length
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, used + size))
      this.#bytes.copy(larger, larger.length - used, this.#at)
      this.#at = larger.length - used
      this.#bytes = larger
    }
    this.#at -= size
    return this.#at
  }
}
