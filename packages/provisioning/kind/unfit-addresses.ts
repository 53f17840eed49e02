import { BlockList, isIP } from 'node:net'

const ranges = [
  ['127.0.0.0', 8, 'ipv4', 'is on the hub itself'],
  ['0.0.0.0', 8, 'ipv4', 'is on the hub itself'],
  ['169.254.0.0', 16, 'ipv4', 'is link-local: clouds answer there with credentials'],
  ['224.0.0.0', 3, 'ipv4', 'is not the address of one machine'],
  ['::', 127, 'ipv6', 'is on the hub itself'],
  ['fe80::', 10, 'ipv6', 'is link-local'],
  ['fd00:ec2::', 32, 'ipv6', 'belongs to a cloud, which answers there with credentials'],
  ['ff00::', 8, 'ipv6', 'is not the address of one machine'],
] as const

const unfit = ranges.map(([first, bits, family, why]) => {
  const list = new BlockList()
  list.addSubnet(first, bits, family)
  return { list, why }
})

/**
 * Returns the reason, as a clause, for which the hub dials no machine at this address; undefined if it may. A DNS
 * name must be asked again after its resolution. IPv4 addresses that are written as IPv6 ones count as what they are.
 */
export function whyNoMachine(address: string): string | undefined {
  const family = isIP(address)
  if (family === 0) {
    return /(^|\.)localhost\.?$/.test(address) ? 'is on the hub itself' : undefined
  }
  const name = family === 4 ? 'ipv4' : 'ipv6'
  return unfit.find(({ list }) => list.check(address, name))?.why
}
