import type { Random } from '@skerry/base'
import ipaddr from 'ipaddr.js'
import { apiServerBounds } from '../contract/limits-table.ts'

export type IpFamily = 'IPv4' | 'IPv6'

/** A range of service addresses. Pure arithmetic. */
export interface AddressRange {
  readonly cidr: string
  readonly family: IpFamily
  contains(address: string): boolean
  /** Picks a free address, from the upper part while there is one: people choose by hand from the lower. */
  pick(isTaken: (address: string) => boolean, random: Random): string | undefined
}

const { randomTries, addressesMax } = apiServerBounds.addressRange

/** Throws RangeError if the text is not a CIDR. */
export function parseRange(cidr: string): AddressRange {
  let network: [ipaddr.IPv4 | ipaddr.IPv6, number]
  try {
    network = ipaddr.parseCIDR(cidr)
  } catch (error) {
    throw new RangeError(`Cannot use service range: ${JSON.stringify(cidr)} is not a CIDR`, {
      cause: error,
    })
  }
  const [address, prefixBits] = network
  const bytes = address.toByteArray()
  const size = Math.min(2 ** (bytes.length * 8 - prefixBits), addressesMax)
  const family = address.kind() === 'ipv4' ? 'IPv4' : 'IPv6'
  // The first address names the network; the last is IPv4's broadcast.
  const last = size - (family === 'IPv4' ? 2 : 1)
  const staticCount = Math.min(Math.max(16, Math.floor(size / 16)), 256, Math.floor(last / 2))
  const at = (offset: number): string => addressAt(bytes, prefixBits, offset)
  return {
    cidr,
    family,
    contains: (text) => {
      if (!ipaddr.isValid(text)) return false
      const other = ipaddr.parse(text)
      return other.kind() === address.kind() && other.match(network)
    },
    pick(isTaken, random) {
      for (let tries = 0; tries < randomTries; tries += 1) {
        const offset = staticCount + 1 + Math.floor(random.next() * (last - staticCount))
        const candidate = at(Math.min(offset, last))
        if (!isTaken(candidate)) return candidate
      }
      for (let offset = last; offset >= 1; offset -= 1) {
        if (!isTaken(at(offset))) return at(offset)
      }
      return undefined
    },
  }
}

function addressAt(network: readonly number[], prefixBits: number, offset: number): string {
  const bytes = network.map((byte, index) => {
    const keptBits = Math.max(0, Math.min(8, prefixBits - index * 8))
    return byte & (0xff << (8 - keptBits)) & 0xff
  })
  let rest = offset
  for (let index = bytes.length - 1; index >= 0 && rest > 0; index -= 1) {
    const sum = (bytes[index] ?? 0) + (rest & 0xff)
    bytes[index] = sum & 0xff
    rest = (rest >>> 8) + (sum >>> 8)
  }
  return ipaddr.fromByteArray(bytes).toString()
}
