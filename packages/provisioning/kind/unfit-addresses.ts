import { isIP } from 'node:net'
import { addressKind, type AddressKind } from '@skerry/base'

const reasons: Readonly<Record<Exclude<AddressKind, 'ordinary'>, string>> = Object.freeze({
  local: "is on the hub itself, link-local or a group's",
  secrets: 'belongs to a cloud, which answers there with credentials',
  reserved: 'is reserved, and not the address of a machine',
  none: 'is spelled such that readers differ',
})

/**
 * Returns the reason, as a clause, for which the hub dials no machine at this address; undefined if it may. A DNS
 * name must be asked again after its resolution. IPv4 addresses within IPv6 ones count as what they are.
 */
export function whyNoMachine(address: string): string | undefined {
  if (isIP(address) === 0) {
    return /(^|\.)localhost\.?$/.test(address) ? reasons.local : undefined
  }
  const kind = addressKind(address)
  return kind === 'ordinary' ? undefined : reasons[kind]
}
