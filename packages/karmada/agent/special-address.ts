import { BlockList, isIP } from 'node:net'

/**
 * What no service may lead to: the machine itself, its link, groups, and where clouds tell machines their
 * secrets (RFC 6890; the last ones are those of AWS, Google, Alibaba and Oracle that are not link-local).
 */
const special = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  special.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  special.addSubnet(network, bits, 'ipv6')
}
special.addAddress('100.100.100.200', 'ipv4')
special.addAddress('fd00:ec2::254', 'ipv6')
special.addAddress('fd20:ce::254', 'ipv6')

/** Also of what is no address at all, and of IPv4 written as IPv6. */
export function isSpecialAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return true
  return special.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** However each is written. */
export function sameAddress(one: string, other: string): boolean {
  if (one === other) return true
  const [a, b] = [isIP(one), isIP(other)]
  if (a === 0 || b === 0) return false
  const list = new BlockList()
  list.addAddress(one, a === 4 ? 'ipv4' : 'ipv6')
  return list.check(other, b === 4 ? 'ipv4' : 'ipv6')
}
