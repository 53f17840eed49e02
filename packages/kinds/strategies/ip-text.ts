import { fieldInvalid, quoteGo } from '@skerry/api'
import type { Found } from './checks.ts'
import {
  cidrText,
  includesCidr,
  ipText,
  isLinkLocalIp,
  isLinkLocalMulticastIp,
  isLoopbackIp,
  isMappedIp,
  isUnspecifiedIp,
  networkOf,
  parseLooseCidr,
  parseLooseIp,
  type Cidr,
} from '../addresses/ip.ts'

/**
 * Reads an address as upstream's fields do: leading zeros in IPv4 are decimal, and an IPv4 address that is
 * written as IPv6 is one. Returns its 4 or 16 bytes, or undefined if the text is not an address.
 */
export function ipOf(text: string): Uint8Array | undefined {
  const bytes = parseLooseIp(text)
  return bytes && plain(bytes)
}

/** Does the same for a network. */
export function cidrOf(text: string): Cidr | undefined {
  const cidr = parseLooseCidr(text)
  if (!cidr) return undefined
  const bytes = plain(cidr.bytes)
  return cidr.bits <= bytes.length * 8 ? { bytes, bits: cidr.bits } : undefined
}

function plain(bytes: Uint8Array): Uint8Array {
  return isMappedIp(bytes) ? bytes.subarray(12) : bytes
}

export function isIpv6(text: string): boolean {
  return ipOf(text)?.length === 16
}

/** Returns true for at most one address or network of each family. */
export function isOnePerFamily(addresses: readonly (Uint8Array | undefined)[]): boolean {
  const families = new Set(addresses.map((address) => address?.length))
  return addresses.length <= 2 && families.size === addresses.length && !families.has(undefined)
}

/** Returns true if the first network is a proper part of the second. */
export function isWithin(inner: Cidr, outer: Cidr): boolean {
  return inner.bits > outer.bits && includesCidr(outer, inner)
}

/** Fields older than strict checking accept any spelling that all programs read the same way. */
export function checkIp(text: string, field: string, found: Found): boolean {
  const ip = ipOf(text)
  const fault = ip
    ? faultOfIp(text, ip)
    : 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
  if (fault) found.push(fieldInvalid(field, text, fault))
  return !fault
}

function faultOfIp(text: string, ip: Uint8Array): string | undefined {
  if (ip.length === 16 || text === ipText(ip)) return undefined
  return text.includes(':') ? 'must not be an IPv4-mapped IPv6 address' : 'must not have leading 0s'
}

/** Newer fields accept one spelling only. */
export function checkCanonicalIp(text: string, field: string, found: Found): boolean {
  if (!checkIp(text, field, found)) return false
  const ip = ipOf(text)
  return !ip || checkSpelling(text, ipText(ip), field, found)
}

export function checkCidr(text: string, field: string, found: Found): boolean {
  const cidr = cidrOf(text)
  const fault = cidr
    ? faultOfCidr(text, cidr)
    : 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  if (fault) found.push(fieldInvalid(field, text, fault))
  return !fault
}

function faultOfCidr(text: string, cidr: Cidr): string | undefined {
  const [address = '', length = ''] = text.split('/')
  const addressFault = faultOfIp(address, cidr.bytes)
  if (addressFault && address.includes(':')) return 'must not have an IPv4-mapped IPv6 address'
  if (addressFault || length !== String(cidr.bits)) {
    return 'must not have leading 0s in IP or prefix length'
  }
  const hasMore = ipText(networkOf(cidr)) !== ipText(cidr.bytes)
  return hasMore ? 'must not have bits set beyond the prefix length' : undefined
}

export function checkCanonicalCidr(text: string, field: string, found: Found): boolean {
  if (!checkCidr(text, field, found)) return false
  const cidr = cidrOf(text)
  if (!cidr) return true
  const network = { bytes: networkOf(cidr), bits: cidr.bits }
  return checkSpelling(text, cidrText(network), field, found)
}

/** Checks an address with its network's prefix length, in one spelling. */
export function checkInterfaceAddress(text: string, field: string, found: Found): void {
  const cidr = cidrOf(text)
  if (cidr) checkSpelling(text, cidrText(cidr), field, found)
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
  const ip = ipOf(text)
  if (!ip) {
    found.push(fieldInvalid(field, text, 'must be a valid IP address'))
    return
  }
  const reserved: readonly [boolean, string][] = [
    [isUnspecifiedIp(ip), `may not be unspecified (${text})`],
    [isLoopbackIp(ip), 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    [isLinkLocalIp(ip), 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    [
      isLinkLocalMulticastIp(ip),
      'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ]
  for (const [isReserved, detail] of reserved) {
    if (isReserved) found.push(fieldInvalid(field, text, detail))
  }
}
