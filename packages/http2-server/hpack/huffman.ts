import { huffmanLengths } from './huffman-lengths-table.ts'

const bitsMax = 30
const shortBits = 8

/**
 * Reads a text in Huffman's code of HPACK (RFC 7541, section 5.2), as one character a byte. Returns undefined if the
 * code is none, or is filled up wrongly at its end.
 */
export function decodeHuffman(bytes: Buffer, from: number, end: number): string | undefined {
  const last = end * 8
  let text = ''
  let at = from * 8
  while (at < last) {
    const short = shortCodes[eightBits(bytes, at, end)] ?? 0
    const found = short === 0 ? longCode(bytes, at, last) : short
    const length = found & 0x1f
    if (found === 0 || at + length > last) return isFilling(bytes, at, last) ? text : undefined
    text += characters[found >> 5]
    at += length
  }
  return text
}

/** Ones follow the end. */
function eightBits(bytes: Buffer, at: number, end: number): number {
  const index = at >> 3
  const next = index + 1 < end ? (bytes[index + 1] ?? 0xff) : 0xff
  return ((((bytes[index] ?? 0xff) << 8) | next) >> (8 - (at & 7))) & 0xff
}

/** The last byte is filled with ones, and a whole byte of them would be too many. */
function isFilling(bytes: Buffer, at: number, last: number): boolean {
  const count = last - at
  if (count >= 8) return false
  const ones = (1 << count) - 1
  return ((bytes[(last >> 3) - 1] ?? 0) & ones) === ones
}

/** Returns a byte and the length of its code, or 0 if there is none before the end. */
function longCode(bytes: Buffer, from: number, last: number): number {
  let code = 0
  for (let length = 1; length <= bitsMax && from + length <= last; length += 1) {
    const at = from + length - 1
    code = (code << 1) | (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
    const place = code - (firstCodes[length] ?? 0)
    const symbols = byLength[length] ?? []
    if (place >= symbols.length) continue
    return ((symbols[place] ?? 0) << 5) | length
  }
  return 0
}

const byLength: readonly (readonly number[])[] = Array.from({ length: bitsMax + 1 }, (_, length) =>
  huffmanLengths.flatMap((bits, symbol) => (bits === length ? [symbol] : [])),
)
const firstCodes = firstCodesOf()
const shortCodes = shortCodesOf()
const characters: readonly string[] = huffmanLengths.map((_, symbol) => String.fromCharCode(symbol))

function firstCodesOf(): readonly number[] {
  const codes: number[] = []
  let next = 0
  for (const symbols of byLength) {
    codes.push(next)
    next = (next + symbols.length) << 1
  }
  return codes
}

/** The byte that each eight bits start with, and the length of its code; 0 if the code is longer. */
function shortCodesOf(): Uint16Array {
  const table = new Uint16Array(1 << shortBits)
  for (let length = 1; length <= shortBits; length += 1) {
    for (const [place, symbol] of (byLength[length] ?? []).entries()) {
      const first = ((firstCodes[length] ?? 0) + place) << (shortBits - length)
      table.fill((symbol << 5) | length, first, first + (1 << (shortBits - length)))
    }
  }
  return table
}
