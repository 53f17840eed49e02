import { fieldInvalid, quoteGo } from '@skerry/api'
import type { Found } from './checks.ts'

/** The address as numbers: 4 bytes of IPv4 or 8 groups of IPv6. */
export type IpNumbers =
  | { readonly family: 4; readonly parts: readonly number[] }
  | { readonly family: 6; readonly parts: readonly number[] }

/** Returns undefined if the text is not an address. Leading zeros in IPv4 are decimal, as in upstream. */
export function parseIp(text: string): IpNumbers | undefined {
  if (!text.includes(':')) {
    const parts = parseIpv4(text)
    return parts && { family: 4, parts }
  }
  const parts = parseIpv6(text)
  if (!parts) return undefined
  const isMapped = parts.slice(0, 5).every((group) => group === 0) && parts[5] === 0xffff
  if (!isMapped) return { family: 6, parts }
  const [high = 0, low = 0] = parts.slice(6)
  return { family: 4, parts: [high >> 8, high & 255, low >> 8, low & 255] }
}

export interface CidrNumbers {
  readonly ip: IpNumbers
  readonly prefixLength: number
}

export function parseCidr(text: string): CidrNumbers | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const ip = parseIp(text.slice(0, slash))
  const length = text.slice(slash + 1)
  if (!ip || !/^\d{1,3}$/.test(length)) return undefined
  const prefixLength = Number(length)
  return prefixLength <= (ip.family === 4 ? 32 : 128) ? { ip, prefixLength } : undefined
}

export function isIpv6(text: string): boolean {
  return parseIp(text)?.family === 6
}

/** Returns true for at most one address or network of each family. */
export function isOnePerFamily(addresses: readonly (IpNumbers | undefined)[]): boolean {
  const families = new Set(addresses.map((address) => address?.family))
  return addresses.length <= 2 && families.size === addresses.length && !families.has(undefined)
}

/** Fields older than strict checking accept any spelling that all programs read the same way. */
export function checkIp(text: string, field: string, found: Found): boolean {
  const ip = parseIp(text)
  const fault = ip
    ? faultOfIp(text, ip)
    : 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
  if (fault) found.push(fieldInvalid(field, text, fault))
  return !fault
}

function faultOfIp(text: string, { family, parts }: IpNumbers): string | undefined {
  if (family === 6 || text === parts.join('.')) return undefined
  return text.includes(':') ? 'must not be an IPv4-mapped IPv6 address' : 'must not have leading 0s'
}

/** Newer fields accept one spelling only. */
export function checkCanonicalIp(text: string, field: string, found: Found): boolean {
  if (!checkIp(text, field, found)) return false
  const ip = parseIp(text)
  return !ip || checkSpelling(text, ipText(ip), field, found)
}

export function checkCidr(text: string, field: string, found: Found): boolean {
  const cidr = parseCidr(text)
  const fault = cidr
    ? faultOfCidr(text, cidr)
    : 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  if (fault) found.push(fieldInvalid(field, text, fault))
  return !fault
}

function faultOfCidr(text: string, cidr: CidrNumbers): string | undefined {
  const [address = '', length = ''] = text.split('/')
  const addressFault = faultOfIp(address, cidr.ip)
  if (addressFault && address.includes(':')) return 'must not have an IPv4-mapped IPv6 address'
  if (addressFault || length !== String(cidr.prefixLength)) {
    return 'must not have leading 0s in IP or prefix length'
  }
  const hasMore = ipText(networkOf(cidr)) !== ipText(cidr.ip)
  return hasMore ? 'must not have bits set beyond the prefix length' : undefined
}

export function checkCanonicalCidr(text: string, field: string, found: Found): boolean {
  if (!checkCidr(text, field, found)) return false
  const cidr = parseCidr(text)
  if (!cidr) return true
  return checkSpelling(text, `${ipText(networkOf(cidr))}/${cidr.prefixLength}`, field, found)
}

/** Checks an address with its network's prefix length, in one spelling. */
export function checkInterfaceAddress(text: string, field: string, found: Found): void {
  const cidr = parseCidr(text)
  if (cidr) checkSpelling(text, `${ipText(cidr.ip)}/${cidr.prefixLength}`, field, found)
  else {
    const detail = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'
    found.push(fieldInvalid(field, text, detail))
  }
}

function checkSpelling(text: string, canonical: string, field: string, found: Found): boolean {
  if (text === canonical) return true
  found.push(fieldInvalid(field, text, `must be in canonical form (${quoteGo(canonical)})`))
  return false
}

/** Checks addresses to which services may send: none that a node would treat as its own. */
export function checkEndpointIp(text: string, field: string, found: Found): void {
  const ip = parseIp(text)
  if (!ip) {
    found.push(fieldInvalid(field, text, 'must be a valid IP address'))
    return
  }
  const [first = 0, second = 0, third = 0] = ip.parts
  const isZero = ip.parts.every((part) => part === 0)
  const isOne = ip.parts.slice(0, -1).every((part) => part === 0) && ip.parts.at(-1) === 1
  const isV4 = ip.family === 4
  const reserved: readonly [boolean, string][] = [
    [isZero, `may not be unspecified (${text})`],
    [isV4 ? first === 127 : isOne, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    [
      isV4 ? first === 169 && second === 254 : (first & 0xffc0) === 0xfe80,
      'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
    [
      isV4 ? first === 224 && second === 0 && third === 0 : (first & 0xff0f) === 0xff02,
      'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ]
  for (const [isReserved, detail] of reserved) {
    if (isReserved) found.push(fieldInvalid(field, text, detail))
  }
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part))) return undefined
  const numbers = parts.map(Number)
  return numbers.every((number) => number <= 255) ? numbers : undefined
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0] ?? '', halves.length === 1)
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : []
  if (!head || !tail) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

/** `isEnd`: the last group may be an IPv4 address. */
function parseGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [at, part] of parts.entries()) {
    if (isEnd && at === parts.length - 1 && part.includes('.')) {
      const v4 = parseIpv4(part)
      if (!v4) return undefined
      const [a = 0, b = 0, c = 0, d = 0] = v4
      groups.push(a * 256 + b, c * 256 + d)
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16))
    } else {
      return undefined
    }
  }
  return groups
}

/** Returns true if the first network is a proper part of the second. */
export function isWithin(inner: CidrNumbers, outer: CidrNumbers): boolean {
  if (inner.ip.family !== outer.ip.family || inner.prefixLength <= outer.prefixLength) return false
  const width = inner.ip.family === 4 ? 8 : 16
  for (const [at, part] of outer.ip.parts.entries()) {
    const mask = maskOfPart(outer.prefixLength, at, width)
    if ((part & mask) !== ((inner.ip.parts[at] ?? 0) & mask)) return false
  }
  return true
}

/** Formats an address according to RFC 5952. */
export function ipText({ family, parts }: IpNumbers): string {
  if (family === 4) return parts.join('.')
  const hex = parts.map((part) => part.toString(16))
  const { start, length } = longestZeros(parts)
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

function longestZeros(parts: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  let length = 0
  for (const [at, part] of parts.entries()) {
    length = part === 0 ? length + 1 : 0
    if (length > best.length) best = { start: at + 1 - length, length }
  }
  return best
}

/** Returns the first address of the network. */
export function networkOf({ ip, prefixLength }: CidrNumbers): IpNumbers {
  const width = ip.family === 4 ? 8 : 16
  const parts = ip.parts.map((part, at) => part & maskOfPart(prefixLength, at, width))
  return { family: ip.family, parts }
}

function maskOfPart(prefixLength: number, at: number, width: number): number {
  const bits = Math.min(Math.max(prefixLength - at * width, 0), width)
  return (2 ** width - 1) ^ (2 ** (width - bits) - 1)
}
