/**
 * Addresses and networks as texts and as bytes: 4 of IPv4, 16 of IPv6. One spelling is canonical (RFC 5952);
 * readers decide which others they accept.
 */
export interface Cidr {
  readonly bytes: Uint8Array
  /** The length of the prefix. */
  readonly bits: number
}

/** Reads an address without leading zeros in IPv4, as Go's netip. Returns undefined for any other text. */
export function parseIp(text: string): Uint8Array | undefined {
  return parse(text, /^(?:0|[1-9]\d{0,2})$/)
}

/** Does the same, and reads leading zeros in IPv4 as decimal, as upstream's older fields do. */
export function parseLooseIp(text: string): Uint8Array | undefined {
  return parse(text, /^\d{1,3}$/)
}

/** Reads an address and its prefix length, both without leading zeros. */
export function parseCidr(text: string): Cidr | undefined {
  return /\/0\d/.test(text) ? undefined : networkIn(text, parseIp)
}

/** Does the same with leading zeros. */
export function parseLooseCidr(text: string): Cidr | undefined {
  return networkIn(text, parseLooseIp)
}

/** Reports whether it is an IPv4 address that is written as IPv6 (RFC 4291, section 2.5.5.2). */
export function isMappedIp(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 &&
    bytes.subarray(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 0xff &&
    bytes[11] === 0xff
  )
}

/** Formats an address canonically (RFC 5952). */
export function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from(
    { length: 8 },
    (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0),
  )
  const { start, length } = longestZeros(groups)
  const texts = groups.map((group) => group.toString(16))
  if (length < 2) return texts.join(':')
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`
}

export function cidrText({ bytes, bits }: Cidr): string {
  return `${ipText(bytes)}/${bits}`
}

/** Returns the first address of the network. */
export function networkOf({ bytes, bits }: Cidr): Uint8Array {
  return bytes.map((byte, at) => byte & (0xff00 >> Math.min(Math.max(bits - at * 8, 0), 8)))
}

export function includesIp(network: Cidr, bytes: Uint8Array): boolean {
  if (network.bytes.length !== bytes.length) return false
  const inside = networkOf({ bytes, bits: network.bits })
  return networkOf(network).every((byte, at) => byte === inside[at])
}

/** Reports whether the first network is the same as the second, or contains it. */
export function includesCidr(outer: Cidr, inner: Cidr): boolean {
  return outer.bits <= inner.bits && includesIp(outer, inner.bytes)
}

export function isUnspecifiedIp(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

/** Reports whether it is in 127.0.0.0/8 or is ::1. */
export function isLoopbackIp(bytes: Uint8Array): boolean {
  if (bytes.length === 4) return bytes[0] === 127
  return bytes.every((byte, at) => byte === (at === 15 ? 1 : 0))
}

/** Reports whether it is in 169.254.0.0/16 or fe80::/10. */
export function isLinkLocalIp(bytes: Uint8Array): boolean {
  const [a = 0, b = 0] = bytes
  return bytes.length === 4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80
}

/** Reports whether it is in 224.0.0.0/24, or in ff02::/16 with any flags. */
export function isLinkLocalMulticastIp(bytes: Uint8Array): boolean {
  const [a = 0, b = 0, c = 0] = bytes
  return bytes.length === 4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 2
}

/** `octet` matches a number of IPv4 of at most three digits. */
function parse(text: string, octet: RegExp): Uint8Array | undefined {
  return text.includes(':') ? parseV6(text, octet) : parseV4(text, octet)
}

function parseV4(text: string, octet: RegExp): Uint8Array | undefined {
  const parts = text.split('.')
  const isRight =
    parts.length === 4 && parts.every((part) => octet.test(part) && Number(part) < 256)
  return isRight ? Uint8Array.from(parts, Number) : undefined
}

function parseV6(text: string, octet: RegExp): Uint8Array | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const isWhole = halves.length === 1
  const head = groupBytes(halves[0] ?? '', isWhole ? octet : undefined)
  const tail = isWhole ? [] : groupBytes(halves[1] ?? '', octet)
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  if (isWhole ? missing !== 0 : missing < 2) return undefined
  return Uint8Array.from([...head, ...Array.from({ length: missing }, () => 0), ...tail])
}

/** Only if `octet` is given, the last group may be an IPv4 address. */
function groupBytes(text: string, octet: RegExp | undefined): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [at, group] of groups.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
      continue
    }
    const v4 = octet && at === groups.length - 1 ? parseV4(group, octet) : undefined
    if (!v4) return undefined
    bytes.push(...v4)
  }
  return bytes
}

function networkIn(
  text: string,
  read: (address: string) => Uint8Array | undefined,
): Cidr | undefined {
  const [, address = '', length = ''] = /^([^/]*)\/(\d{1,3})$/.exec(text) ?? []
  const bytes = read(address)
  const bits = Number(length)
  return bytes && bits <= bytes.length * 8 ? { bytes, bits } : undefined
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  let length = 0
  for (const [at, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0
    if (length > best.length) best = { start: at + 1 - length, length }
  }
  return best
}
