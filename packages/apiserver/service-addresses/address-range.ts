import { includesIp, ipText, networkOf, parseCidr, parseIp } from '@skerry/kinds'
import type { Random } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

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
  const range = parseCidr(cidr)
  if (!range)
    throw new RangeError(`Cannot use service range: ${JSON.stringify(cidr)} is not a CIDR`)
  const network = networkOf(range)
  const size = Math.min(2 ** (network.length * 8 - range.bits), addressesMax)
  const family = network.length === 4 ? 'IPv4' : 'IPv6'
  // The first address names the network; the last is IPv4's broadcast.
  const last = size - (family === 'IPv4' ? 2 : 1)
  const staticCount = Math.min(Math.max(16, Math.floor(size / 16)), 256, Math.floor(last / 2))
  const at = (offset: number): string => addressAt(network, offset)
  return {
    cidr,
    family,
    contains: (text) => {
      const address = parseIp(text)
      return address !== undefined && includesIp(range, address)
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

function addressAt(network: Uint8Array, offset: number): string {
  const bytes = Uint8Array.from(network)
  let rest = offset
  for (let index = bytes.length - 1; index >= 0 && rest > 0; index -= 1) {
    const sum = (bytes[index] ?? 0) + (rest & 0xff)
    bytes[index] = sum & 0xff
    rest = (rest >>> 8) + (sum >>> 8)
  }
  return ipText(bytes)
}
