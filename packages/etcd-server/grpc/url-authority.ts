/** The first bytes of a connection of HTTP/2 (RFC 9113, section 3.4). */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Frames of HTTP/2 (RFC 9113, section 4.1) and the flags that matter here. */
export const frameTypes = Object.freeze({ headers: 1, settings: 4, ping: 6 })
export const frameHeadLength = 9
const flags = Object.freeze({ padded: 0x08, priority: 0x20 })

/** The index of `:authority` in HPACK's static table (RFC 7541, appendix A). */
const authorityIndex = 1
const slash = 0x2f
const dot = 0x2e

/**
 * Writes dots for the slashes of a literal `:authority` in the payload of a HEADERS frame, in place. Clients of etcd 3.4
 * send the URL of their endpoint there, which Node's HTTP/2 refuses. Both characters are as long in Huffman's code, so
 * no length changes and the tables of both sides stay the same. Returns true if there was a slash. A block that cannot
 * be read is left alone; Node judges it.
 */
export function mendAuthority(payload: Buffer, frameFlags: number): boolean {
  const padBytes = frameFlags & flags.padded ? 1 : 0
  const end = payload.length - (padBytes === 0 ? 0 : (payload[0] ?? 0))
  const reader = new HpackReader(payload, padBytes + (frameFlags & flags.priority ? 5 : 0), end)
  let isMended = false
  while (reader.isInside) {
    const value = reader.nextAuthority()
    if (value && (value.isHuffman ? mendCode(value.bytes) : mendText(value.bytes))) isMended = true
  }
  return isMended
}

interface HpackText {
  readonly bytes: Buffer
  readonly isHuffman: boolean
}

/** Walks through the fields of a header block (RFC 7541, section 6). It stops at the first that it cannot read. */
class HpackReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  constructor(bytes: Buffer, from: number, end: number) {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
  }

  get isInside(): boolean {
    return this.#at < this.#end
  }

  /** Reads one field; returns its value if that is a literal `:authority`. */
  nextAuthority(): HpackText | undefined {
    const first = this.#bytes[this.#at] ?? 0
    if (first >= 0x80) return void this.#number(7)
    if (first >= 0x20 && first < 0x40) return void this.#number(5)
    const index = this.#number(first >= 0x40 ? 6 : 4)
    if (index === 0) this.#text()
    const value = this.#text()
    return index === authorityIndex ? value : undefined
  }

  /** Reads a number with a prefix of so many bits (section 5.1). */
  #number(bits: number): number {
    const most = 2 ** bits - 1
    let value = (this.#bytes[this.#at] ?? 0) & most
    this.#at += 1
    if (value < most) return value
    for (let shift = 0; shift < 28; shift += 7) {
      if (!this.isInside) return 0
      const byte = this.#bytes[this.#at] ?? 0
      this.#at += 1
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    this.#at = this.#end
    return 0
  }

  #text(): HpackText | undefined {
    if (!this.isInside) return undefined
    const isHuffman = (this.#bytes[this.#at] ?? 0) >= 0x80
    const length = this.#number(7)
    const from = this.#at
    this.#at += length
    return this.#at <= this.#end
      ? { bytes: this.#bytes.subarray(from, this.#at), isHuffman }
      : undefined
  }
}

function mendText(bytes: Buffer): boolean {
  const isMended = bytes.includes(slash)
  for (let at = bytes.indexOf(slash); at >= 0; at = bytes.indexOf(slash, at)) bytes[at] = dot
  return isMended
}

/** Codes by length, each with the greatest one of that length (RFC 7541, appendix B); longer ones are in no URL. */
const longest: readonly (readonly [bits: number, greatest: number])[] = Object.freeze([
  [5, 0x09],
  [6, 0x2d],
  [7, 0x7b],
  [8, 0xfd],
  [10, 0x3fb],
  [11, 0x7fc],
  [12, 0xffb],
  [13, 0x1ffd],
])
const slashCode = 0x18
const dotCode = 0x17

function mendCode(bytes: Buffer): boolean {
  let isMended = false
  const end = bytes.length * 8
  for (let at = 0; at < end;) {
    const length = longest.find(([bits, greatest]) => bitsAt(bytes, at, bits) <= greatest)?.[0]
    // Ones up to the end of the last byte fill it.
    if (length === undefined || at + length > end) return isMended
    if (length === 6 && bitsAt(bytes, at, length) === slashCode) {
      for (let bit = 0; bit < length; bit += 1) {
        setBit(bytes, at + bit, (dotCode >> (length - 1 - bit)) & 1)
      }
      isMended = true
    }
    at += length
  }
  return isMended
}

/** Bits after the end are ones. */
function bitsAt(bytes: Buffer, from: number, count: number): number {
  let value = 0
  for (let at = from; at < from + count; at += 1) {
    const byte = bytes[at >> 3] ?? 0xff
    value = (value << 1) | ((byte >> (7 - (at & 7))) & 1)
  }
  return value
}

function setBit(bytes: Buffer, at: number, bit: number): void {
  const mask = 1 << (7 - (at & 7))
  const byte = bytes[at >> 3] ?? 0
  bytes[at >> 3] = bit === 1 ? byte | mask : byte & ~mask
}
