import { http2Bounds } from '../limits-table.ts'
import { ConnectionError } from '../frames/http2-error.ts'
import { decodeHuffman } from './huffman.ts'
import { staticFields } from './static-table.ts'

const { tableBytesMax } = http2Bounds.headerDecoder

/** A field as HPACK keeps it. */
export interface HeaderField {
  readonly name: string
  readonly value: string
  /** The size by which tables and lists are bounded (RFC 7541, section 4.1). */
  readonly bytes: number
  /** False if HTTP forbids its characters (RFC 9113, section 8.2.1). */
  readonly isValid: boolean
}

/** Reads header blocks of one connection (RFC 7541). Every block must be read, since each may change the table. */
export class HeaderDecoder {
  /** The newest field is last. */
  readonly #table: HeaderField[] = []
  #tableBytes = 0
  #tableMax: number = tableBytesMax
  #bytes: Buffer = noBytes
  #at = 0
  #end = 0

  /** Calls `onField` for each field in order. Throws ConnectionError. */
  decode(block: Buffer, from: number, end: number, onField: (field: HeaderField) => void): void {
    this.#bytes = block
    this.#at = from
    this.#end = end
    let mayResize = true
    while (this.#at < this.#end) {
      const first = block[this.#at] ?? 0
      if (first >= 0x80) onField(this.#fieldAt(this.#number(0x7f)))
      else if (first >= 0x40) onField(this.#keep(this.#literal(0x3f)))
      else if (first < 0x20) onField(this.#literal(0x0f))
      else {
        if (!mayResize) throw broken('a size of the table came after fields')
        this.#resize(this.#number(0x1f))
        continue
      }
      mayResize = false
    }
    this.#bytes = noBytes
  }

  #literal(mask: number): HeaderField {
    const index = this.#number(mask)
    const name = index === 0 ? this.#text() : this.#fieldAt(index).name
    return fieldOf(name, this.#text())
  }

  #fieldAt(index: number): HeaderField {
    const field =
      index <= staticFields.length
        ? staticEntries[index]
        : this.#table[this.#table.length - (index - staticFields.length)]
    if (field === undefined) throw broken(`no field has index ${index}`)
    return field
  }

  /** A field that is larger than the table empties it (RFC 7541, section 4.4). */
  #keep(field: HeaderField): HeaderField {
    this.#evict(this.#tableMax - field.bytes)
    if (field.bytes <= this.#tableMax) {
      this.#table.push(field)
      this.#tableBytes += field.bytes
    }
    return field
  }

  #resize(bytes: number): void {
    if (bytes > tableBytesMax) throw broken('the table may not be as large')
    this.#tableMax = bytes
    this.#evict(bytes)
  }

  #evict(bytesLeft: number): void {
    let count = 0
    for (; this.#tableBytes > bytesLeft && count < this.#table.length; count += 1) {
      this.#tableBytes -= this.#table[count]?.bytes ?? 0
    }
    if (count > 0) this.#table.splice(0, count)
  }

  /** Reads a number whose prefix has these bits (RFC 7541, section 5.1). */
  #number(mask: number): number {
    const prefix = (this.#bytes[this.#at++] ?? 0) & mask
    if (prefix < mask) return prefix
    let value = prefix
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= this.#end) throw broken('a number is cut off')
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw broken('a number is too large')
  }

  #text(): string {
    if (this.#at >= this.#end) throw broken('a text is cut off')
    const isHuffman = (this.#bytes[this.#at] ?? 0) >= 0x80
    const length = this.#number(0x7f)
    const from = this.#at
    const end = from + length
    if (end > this.#end) throw broken('a text is cut off')
    this.#at = end
    if (!isHuffman) return this.#bytes.toString('latin1', from, end)
    const text = decodeHuffman(this.#bytes, from, end)
    if (text === undefined) throw broken("a text is not in Huffman's code")
    return text
  }
}

const noBytes = Buffer.alloc(0)
/** RFC 7541, section 4.1. */
const fieldOverhead = 32
/** Tokens in small letters; a colon starts pseudo-headers only. */
const validName = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/
// oxlint-disable-next-line no-control-regex -- RFC 9113, section 8.2.1, forbids these three, and spaces at the ends
const invalidValue = /[\0\r\n]|^[ \t]|[ \t]$/

function fieldOf(name: string, value: string): HeaderField {
  const isValid = validName.test(name) && !invalidValue.test(value)
  return { name, value, bytes: name.length + value.length + fieldOverhead, isValid }
}

const staticEntries: readonly (HeaderField | undefined)[] = [
  undefined,
  ...staticFields.map(([name, value]) => fieldOf(name, value)),
]

function broken(why: string): ConnectionError {
  return new ConnectionError('compressionError', `HPACK: ${why}`)
}
