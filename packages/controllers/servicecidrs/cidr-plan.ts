import type { IPAddress, ServiceCIDR } from '@skerry/api'
import { includesCidr, includesIp, parseCidr, parseIp } from '@skerry/kinds'

/** A range that may contain another one, or an address. */
interface Range {
  readonly name: string
  readonly cidr: string
}

function rangesOf(cidrs: readonly ServiceCIDR[]): Range[] {
  return cidrs.flatMap(({ metadata, spec }) =>
    (spec?.cidrs ?? []).map((cidr) => ({ name: metadata.name ?? '', cidr })),
  )
}

function contains(cidr: string, address: string): boolean {
  const [network, bytes] = [parseCidr(cidr), parseIp(address)]
  return network !== undefined && bytes !== undefined && includesIp(network, bytes)
}

function containsRange(outer: string, inner: string): boolean {
  const [network, part] = [parseCidr(outer), parseCidr(inner)]
  return network !== undefined && part !== undefined && includesCidr(network, part)
}

/** Returns the names of those that contain the address. */
export function cidrsWith(cidrs: readonly ServiceCIDR[], address: string): string[] {
  const holding = rangesOf(cidrs).filter((each) => contains(each.cidr, address))
  return [...new Set(holding.map(({ name }) => name))]
}

/** Returns the names of those that contain, or are contained in, one of its ranges. */
export function overlapping(cidrs: readonly ServiceCIDR[], changed: ServiceCIDR): string[] {
  const own = changed.spec?.cidrs ?? []
  const found = rangesOf(cidrs).filter(({ cidr }) =>
    own.some((each) => containsRange(each, cidr) || containsRange(cidr, each)),
  )
  return [...new Set(found.map(({ name }) => name))]
}

/**
 * A range may be deleted if a larger one contains all of it, or if each service address in it is in
 * another range, too.
 */
export function mayGo(
  leaving: ServiceCIDR,
  cidrs: readonly ServiceCIDR[],
  addresses: readonly IPAddress[],
): boolean {
  const others = cidrs.filter(({ metadata }) => metadata.name !== leaving.metadata.name)
  const own = leaving.spec?.cidrs ?? []
  const isCovered = own.every((cidr) =>
    rangesOf(others).some((other) => containsRange(other.cidr, cidr)),
  )
  if (isCovered) return true
  return !addresses.some(({ metadata }) => {
    const address = metadata.name ?? ''
    const isOurs = metadata.labels?.[managedByLabel] === serviceAllocatorName
    return (
      isOurs &&
      own.some((cidr) => contains(cidr, address)) &&
      cidrsWith(others, address).length === 0
    )
  })
}

export const managedByLabel = 'ipaddress.kubernetes.io/managed-by'
export const serviceAllocatorName = 'ipallocator.k8s.io'
