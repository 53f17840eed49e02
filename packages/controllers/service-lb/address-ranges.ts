import { isIPv4 } from 'node:net'
import { ipv4Number, ipv4Text } from '@skerry/base'
import { controllerBounds } from '../limits-table.ts'

const { addressesMax } = controllerBounds.addressRanges

/**
 * Returns the addresses of ranges such as `192.168.7.240-250`, `192.168.7.240-192.168.7.250`, `192.168.7.240/29` or one
 * address, separated by commas, in their order. All addresses of a prefix count. Throws RangeError.
 */
export function parseAddressRanges(text: string): string[] {
  const addresses = new Set<string>()
  for (const part of text.split(',')) {
    const { first, last } = parseRange(part.trim())
    if (last < first) throw new RangeError(`the range ${part} ends before it begins`)
    if (addresses.size + last - first >= addressesMax) {
      throw new RangeError(`the ranges have more than ${addressesMax} addresses`)
    }
    for (let value = first; value <= last; value++) addresses.add(ipv4Text(value))
  }
  return [...addresses]
}

function parseRange(text: string): { first: number; last: number } {
  const [, start = '', separator = '', end = ''] = /^([\d.]+)(?:([-/])([\d.]+))?$/.exec(text) ?? []
  if (!isIPv4(start)) throw unreadable(text)
  const first = ipv4Number(start)
  if (separator === '') return { first, last: first }
  if (separator === '-' && isIPv4(end)) return { first, last: ipv4Number(end) }
  const number = Number(end)
  if (!Number.isInteger(number)) throw unreadable(text)
  if (separator === '-') {
    if (number > 255) throw unreadable(text)
    return { first, last: Math.floor(first / 256) * 256 + number }
  }
  if (number < 8 || number > 32) throw unreadable(text)
  const size = 2 ** (32 - number)
  const base = Math.floor(first / size) * size
  return { first: base, last: base + size - 1 }
}

function unreadable(text: string): RangeError {
  return new RangeError(`"${text}" is not a range of IPv4 addresses, e.g. 192.168.7.240-250`)
}

/** Reports whether the address is in the IPv4 prefix, e.g. 192.168.7.0/24. */
export function isWithin(address: string, cidr: string): boolean {
  const [base = '', length = ''] = cidr.split('/')
  if (!isIPv4(base) || !/^\d{1,2}$/.test(length)) return false
  const size = 2 ** (32 - Number(length))
  return Math.floor(ipv4Number(address) / size) === Math.floor(ipv4Number(base) / size)
}
