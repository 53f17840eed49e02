const utf8 = new TextDecoder('utf-8', { fatal: true })
const dataViews = new WeakMap<Uint8Array, DataView>()

/** Reads the fields of one protobuf message, bounds checked. */
export class ProtoReader {
  readonly #bytes: Uint8Array
  #at: number
  readonly #end: number

  constructor(bytes: Uint8Array, from = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end
  }

  /** Returns the next field's number and wire type, or undefined at the end. */
  next(): { field: number; wire: number } | undefined {
    if (this.#at >= this.#end) return undefined
    const tag = this.int()
    return { field: Math.floor(tag / 8), wire: tag % 8 }
  }

  /** Reads a varint as a signed 64-bit number, exact up to 2^53. */
  int(): number {
    const from = this.#at
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    this.#at = from
    return Number(this.int64())
  }

  /** Reads a varint as a signed 64-bit number. */
  int64(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
    throw new MalformedProtobufError('a number is too long')
  }

  double(): number {
    const from = this.#take(8)
    let view = dataViews.get(this.#bytes)
    if (!view) {
      const { buffer, byteOffset, byteLength } = this.#bytes
      view = new DataView(buffer, byteOffset, byteLength)
      dataViews.set(this.#bytes, view)
    }
    return view.getFloat64(from, true)
  }

  bytes(): Uint8Array {
    const length = this.int()
    const from = this.#take(length)
    return this.#bytes.subarray(from, from + length)
  }

  string(): string {
    try {
      return utf8.decode(this.bytes())
    } catch (error) {
      throw new MalformedProtobufError('a string is not UTF-8', { cause: error })
    }
  }

  skip(wire: number): void {
    if (wire === 0) this.int()
    else if (wire === 1) this.#take(8)
    else if (wire === 2) this.bytes()
    else if (wire === 5) this.#take(4)
    else throw new MalformedProtobufError(`wire type ${wire} is unknown`)
  }

  #byte(): number {
    return this.#bytes[this.#take(1)] ?? 0
  }

  #take(count: number): number {
    const from = this.#at
    if (count < 0 || from + count > this.#end) throw new MalformedProtobufError('it ends too early')
    this.#at = from + count
    return from
  }
}

/** Reports bytes that are not protobuf, or not the expected message; `why` says where they deviate. */
export class MalformedProtobufError extends Error {
  override name = 'MalformedProtobufError'
  readonly why: string
  constructor(why: string, options?: ErrorOptions) {
    super(`Cannot read protobuf: ${why}`, options)
    this.why = why
  }
}
