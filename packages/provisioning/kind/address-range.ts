import { isIPv4 } from 'node:net'

/** A range of IPv4 addresses: its first one as a number, and the bits that all of them share. */
export interface Range {
  readonly first: number
  readonly bits: number
}

/** Parses a range such as 10.42.0.0/16; undefined if it is none, or has fewer than 8 bits. */
export function rangeOf(cidr: string): Range | undefined {
  const [address = '', bits = ''] = cidr.split('/')
  if (!isIPv4(address) || !/^\d{1,2}$/.test(bits) || Number(bits) > 32 || Number(bits) < 8)
    return undefined
  const range = { first: numberOf(address), bits: Number(bits) }
  return range.first % sizeOf(range) === 0 ? range : undefined
}

export function numberOf(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

function sizeOf({ bits }: Range): number {
  return 2 ** (32 - bits)
}

export function overlap(a: Range, b: Range): boolean {
  return a.first < b.first + sizeOf(b) && b.first < a.first + sizeOf(a)
}
