import type { EdgeClusterSpec, MachineBlock, MachineRole } from './edge-cluster.ts'

/** A machine of an EdgeCluster with everything that its block says. */
export interface PlannedMachine {
  readonly address: string
  readonly port: number
  readonly user: string
  readonly role: MachineRole
  readonly block: MachineBlock
}

/** The most machines that one text may stand for. */
export const machinesMax = 1_000

const rangePattern = /^(?<head>[^[\]]*)\[(?<first>\d{1,5})-(?<last>\d{1,5})\](?<tail>[^[\]]*)$/
const hostPattern = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/**
 * Returns the addresses that a text such as `10.0.0.[11-14]` stands for, or a message that says why it stands for
 * none. Leading zeros count: `shop-[01-12]` has two digits each.
 */
export function expandAddresses(text: string): readonly string[] | string {
  const range = rangePattern.exec(text)?.groups
  if (range === undefined) {
    return hostPattern.test(text) && !isOddIp(text)
      ? [text]
      : 'must be an IPv4 address, a DNS name in lower case, or a range such as 10.0.0.[11-14]'
  }
  const { head = '', first = '', last = '', tail = '' } = range
  const count = Number(last) - Number(first) + 1
  if (count < 1) return `the range ends before it begins: [${first}-${last}]`
  if (count > machinesMax) return `must stand for at most ${machinesMax} machines`
  const width = first.startsWith('0') ? first.length : 0
  const addresses = Array.from(
    { length: count },
    (_, at) => `${head}${String(Number(first) + at).padStart(width, '0')}${tail}`,
  )
  const odd = addresses.find((address) => !hostPattern.test(address) || isOddIp(address))
  return odd === undefined ? addresses : `stands for ${odd}, which is not an address`
}

/** Whether it looks like an IPv4 address and is none: 10.0.0.300. */
function isOddIp(address: string): boolean {
  const octets = address.split('.')
  if (!octets.every((octet) => /^\d+$/.test(octet))) return false
  return octets.length !== 4 || octets.some((octet) => Number(octet) > 255)
}

/** Returns the machines in their order; texts that stand for none are left out. */
export function machinesOf({ machines = [] }: Partial<EdgeClusterSpec>): PlannedMachine[] {
  return machines.flatMap((block) =>
    (block.addresses ?? []).flatMap((text) => {
      const addresses = expandAddresses(text)
      if (typeof addresses === 'string') return []
      return addresses.map((address) => ({
        address,
        port: block.port ?? 22,
        user: block.user ?? 'root',
        role: block.role ?? 'Node',
        block,
      }))
    }),
  )
}
