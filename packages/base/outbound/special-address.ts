import { BlockList, isIP, isIPv4 } from 'node:net'
import { addressBytes } from './address-bytes.ts'

/**
 * Classifies an address that an object names: `local` is the machine itself, its link or a group;
 * `secrets` is where clouds give machines their credentials (AWS, Google, Azure, Alibaba and Oracle,
 * as far as not link-local); `reserved` is reserved by RFC 6890; `none` is not an address, or is
 * spelled so that readers differ.
 */
export type AddressKind = 'ordinary' | 'local' | 'secrets' | 'reserved' | 'none'

const local = listOf([
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
])
const secrets = listOf([
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
])
const reserved = listOf([
  ['192.0.0.0', 24],
  ['240.0.0.0', 4],
])

/**
 * Classifies an IPv4 address even if it is written as IPv6, or if an IPv6 address leads to it
 * through a translator.
 */
export function addressKind(address: string): AddressKind {
  // A zone names a link of this machine.
  if (isIP(address) === 0 || address.includes('%')) return 'none'
  const [kind = 'ordinary'] = ranks.filter((rank) =>
    [address, ...embedded(address)].some((each) => kindOf(each) === rank),
  )
  return kind
}

const ranks = ['local', 'secrets', 'reserved'] as const satisfies AddressKind[]

/** Compares addresses regardless of spelling, and of translation to IPv6. */
export function sameAddress(one: string, other: string): boolean {
  return sameAddressAs(one)(other)
}

/** Does the same for one address and many others. */
export function sameAddressAs(one: string): (other: string) => boolean {
  const forms = formsOf(one)
  return (other) => one === other || formsOf(other).some((form) => forms.includes(form))
}

/** Returns the canonical spelling of an address, and the IPv4 addresses that it leads to. */
function formsOf(address: string): string[] {
  if (isIPv4(address)) return [address]
  // A zone names a link of this machine.
  if (isIP(address) === 0 || address.includes('%')) return []
  return [addressBytes(address).toString('hex'), ...embedded(address)]
}

function kindOf(address: string): AddressKind {
  const family = familyOf(address)
  if (local.check(address, family)) return 'local'
  if (secrets.check(address, family)) return 'secrets'
  return reserved.check(address, family) ? 'reserved' : 'ordinary'
}

/** The position of the IPv4 address in an IPv6 address: its first byte. */
const translated: readonly (readonly [range: BlockList, byte: number])[] = [
  // IPv4-compatible and IPv4-mapped (RFC 4291, section 2.5.5), IPv4-translated (RFC 2765).
  [listOf([['::', 80]]), 12],
  [listOf([['::ffff:0:0:0', 96]]), 12],
  // NAT64 (RFC 6052 and 8215), 6to4 (RFC 3056).
  [listOf([['64:ff9b::', 96]]), 12],
  [listOf([['64:ff9b:1::', 48]]), 12],
  [listOf([['2002::', 16]]), 2],
]

function embedded(address: string): string[] {
  if (isIPv4(address)) return []
  return translated
    .filter(([range]) => range.check(address, 'ipv6'))
    .map(([, at]) =>
      addressBytes(address)
        .subarray(at, at + 4)
        .join('.'),
    )
}

function listOf(networks: readonly (readonly [base: string, bits: number])[]): BlockList {
  const list = new BlockList()
  for (const [base, bits] of networks) list.addSubnet(base, bits, familyOf(base))
  return list
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}
