import { isIPv4 } from 'node:net'
import { edgeClusterBounds } from '../limits-table.ts'
import type { EdgeClusterSpec, MachineBlock, MachineRole } from './edge-cluster.ts'

/** A machine of an EdgeCluster with everything that its block says. */
export interface PlannedMachine {
  readonly address: string
  readonly port: number
  readonly user: string
  readonly role: MachineRole
  readonly block: MachineBlock
}

export const { machinesMax } = edgeClusterBounds

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

/** Returns how many addresses are made of a text when it is looked at: its range says it. */
export function addressesIn(text: string): number {
  const { first, last } = rangePattern.exec(text)?.groups ?? {}
  const count = Number(last) - Number(first) + 1
  return count > 1 && count <= machinesMax ? count : 1
}

/** Returns true for 10.0.0.300, and for numbers that only old resolvers read as addresses: 0x7f.1, 0177.0.0.1. */
function isOddIp(address: string): boolean {
  const last = address.split('.').at(-1) ?? ''
  return /^(\d+|0x[0-9a-f]*)$/.test(last) && !isIPv4(address)
}

/**
 * Returns the machines in their order; texts that stand for none are left out. At most one more than `machinesMax`
 * is returned, whatever the texts stand for.
 */
export function machinesOf({ machines = [] }: Partial<EdgeClusterSpec>): PlannedMachine[] {
  const planned: PlannedMachine[] = []
  for (const block of machines) {
    for (const text of block.addresses ?? []) {
      const addresses = expandAddresses(text)
      if (typeof addresses === 'string') continue
      for (const address of addresses) {
        planned.push({
          address,
          port: block.port ?? 22,
          user: block.user ?? 'root',
          role: block.role ?? 'Node',
          block,
        })
        if (planned.length > machinesMax) return planned
      }
    }
  }
  return planned
}
