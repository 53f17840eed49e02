import { ProtoWriter } from '@skerry/base'

/**
 * Collects the fields of one protobuf message in the order of the calls, to write them from the last to the
 * first. Undefined values write nothing.
 */
export class ProtoMessage {
  readonly #fields: ((writer: ProtoWriter) => void)[] = []

  text(field: number, value: unknown): this {
    return typeof value === 'string' && value !== '' ? this.#text(field, value) : this
  }

  texts(field: number, values: unknown): this {
    if (Array.isArray(values)) for (const value of values) this.#text(field, String(value))
    return this
  }

  flag(field: number, value: unknown): this {
    return value === true ? this.#number(field, 1) : this
  }

  integer(field: number, value: unknown): this {
    return typeof value === 'number' && value > 0 ? this.#number(field, Math.trunc(value)) : this
  }

  double(field: number, value: unknown): this {
    if (typeof value !== 'number' || value === 0) return this
    return this.#add((writer) => {
      writer.double(value)
      writer.tag(field, 1)
    })
  }

  /** Writes an embedded message, even an empty one, because its presence may matter. */
  message(field: number, message: ProtoMessage): this {
    return this.#add((writer) => {
      const mark = writer.length
      message.#write(writer)
      writer.close(field, mark)
    })
  }

  messages(field: number, messages: Iterable<ProtoMessage>): this {
    for (const message of messages) this.message(field, message)
    return this
  }

  encode(): Uint8Array {
    const writer = new ProtoWriter()
    this.#write(writer)
    return writer.done()
  }

  #text(field: number, text: string): this {
    return this.#add((writer) => {
      const mark = writer.length
      writer.text(text)
      writer.close(field, mark)
    })
  }

  #number(field: number, value: number): this {
    return this.#add((writer) => {
      writer.varint(value)
      writer.tag(field, 0)
    })
  }

  #add(write: (writer: ProtoWriter) => void): this {
    this.#fields.push(write)
    return this
  }

  #write(writer: ProtoWriter): void {
    for (const write of this.#fields.toReversed()) write(writer)
  }
}
