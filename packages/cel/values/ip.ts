/** Parses an address to its 4 or 16 bytes. Returns undefined if the text is not one. */
export function parseIp(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

function parseV4(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  const isValid =
    parts.length === 4 &&
    parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  return isValid ? Uint8Array.from(parts, Number) : undefined
}

function parseV6(text: string): Uint8Array | undefined {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const v4 = tail ? parseV4(tail[2] ?? '') : undefined
  if (tail && !v4) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = v4 ?? []
  const whole = tail
    ? `${tail[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    : text
  const halves = whole.split('::')
  if (halves.length > 2) return undefined
  const [head = [], rest = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const count = head.length + rest.length
  if (halves.length === 1 ? count !== 8 : count > 7) return undefined
  const groups = [...head, ...Array.from({ length: 8 - count }, () => '0'), ...rest]
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  return Uint8Array.from(
    groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  )
}

export function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 &&
    bytes.subarray(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 0xff &&
    bytes[11] === 0xff
  )
}

/** Returns the canonical form of the address (RFC 5952). */
export function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from(
    { length: 8 },
    (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0),
  )
  const best = longestZeros(groups)
  const texts = groups.map((group) => group.toString(16))
  if (best.length < 2) return texts.join(':')
  return `${texts.slice(0, best.start).join(':')}::${texts.slice(best.start + best.length).join(':')}`
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0
    while (start + length < groups.length && groups[start + length] === 0) length += 1
    if (length > best.length) best = { start, length }
  }
  return best
}

export interface Cidr {
  readonly bytes: Uint8Array
  readonly bits: number
}

export function parseCidr(text: string): Cidr | undefined {
  const found = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text)
  const bytes = found ? parseIp(found[1] ?? '') : undefined
  const bits = Number(found?.[2])
  return bytes && bits <= bytes.length * 8 ? { bytes, bits } : undefined
}

export function masked({ bytes, bits }: Cidr): Uint8Array {
  return bytes.map((byte, at) => byte & (0xff00 >> Math.min(Math.max(bits - at * 8, 0), 8)))
}

export function includes(network: Cidr, bytes: Uint8Array): boolean {
  if (network.bytes.length !== bytes.length) return false
  const inside = masked({ bytes, bits: network.bits })
  return masked(network).every((byte, at) => byte === inside[at])
}
