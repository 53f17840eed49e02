/** Writes the fields of one protobuf message, in the order of the calls. Undefined values write nothing. */
export class ProtoWriter {
  readonly #chunks: Uint8Array[] = []
  #length = 0

  text(field: number, value: unknown): this {
    if (typeof value === 'string' && value !== '') this.#bytes(field, encoder.encode(value))
    return this
  }

  texts(field: number, values: unknown): this {
    if (Array.isArray(values))
      for (const value of values) this.#bytes(field, encoder.encode(String(value)))
    return this
  }

  flag(field: number, value: unknown): this {
    if (value === true) this.#push(Uint8Array.of(...varint(field << 3), 1))
    return this
  }

  integer(field: number, value: unknown): this {
    if (typeof value === 'number' && value > 0) {
      this.#push(Uint8Array.from([...varint(field << 3), ...varint(value)]))
    }
    return this
  }

  double(field: number, value: unknown): this {
    if (typeof value !== 'number' || value === 0) return this
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setFloat64(0, value, true)
    this.#push(Uint8Array.from([...varint((field << 3) | 1), ...bytes]))
    return this
  }

  /** Writes an embedded message, even an empty one, because its presence may matter. */
  message(field: number, message: ProtoWriter | undefined): this {
    if (message) this.#bytes(field, message.finish())
    return this
  }

  messages(field: number, messages: Iterable<ProtoWriter>): this {
    for (const message of messages) this.message(field, message)
    return this
  }

  finish(): Uint8Array {
    const result = new Uint8Array(this.#length)
    let offset = 0
    for (const chunk of this.#chunks) {
      result.set(chunk, offset)
      offset += chunk.length
    }
    return result
  }

  #bytes(field: number, bytes: Uint8Array): void {
    this.#push(Uint8Array.from([...varint((field << 3) | 2), ...varint(bytes.length)]))
    this.#push(bytes)
  }

  #push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }
}

const encoder = new TextEncoder()

/** Up to 2^53; larger numbers do not occur in documents. */
function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = Math.trunc(value)
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return bytes
}
