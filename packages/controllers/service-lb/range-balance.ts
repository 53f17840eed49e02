import type { Service } from '@skerry/api'
import { ingressAt, oldestFirst, serviceName, type Balance } from './balanced-service.ts'

/** An address, and the service that it was given to. */
export interface GivenAddress {
  readonly address: string
  /** namespace/name. */
  readonly service: string
}

/**
 * Gives each service one address of the ranges. A service keeps the address that it was given, unless it asks for another
 * one. The oldest comes first. Pure.
 */
export function planRangeBalances(
  services: readonly Service[],
  ranges: readonly string[],
  given: readonly GivenAddress[],
): Balance[] {
  const inRanges = new Set(ranges)
  const owners = new Map<string, string>()
  const names = new Set(services.map((each) => serviceName(each)))
  const former = new Map<string, string>()
  for (const { address, service } of given) {
    if (!inRanges.has(address) || !names.has(service) || former.has(service)) continue
    former.set(service, address)
  }
  const ordered = oldestFirst(services)
  const asks = ({ spec }: Service): string => spec?.loadBalancerIP ?? ''
  // Services that have an address keep it, even if an older one comes to ask for it.
  for (const service of ordered) {
    const name = serviceName(service)
    const address = former.get(name)
    const isWanted = asks(service) === '' || asks(service) === address
    if (address !== undefined && isWanted && !owners.has(address)) owners.set(address, name)
  }
  return ordered.map((service): Balance => {
    const name = serviceName(service)
    const { address, fault } = addressFor(service, { ranges, inRanges, owners })
    if (address !== undefined) owners.set(address, name)
    const ingress = address === undefined ? [] : [ingressAt(address, service)]
    return { service, ingress, portFaults: [], fault }
  })
}

interface Ranges {
  readonly ranges: readonly string[]
  readonly inRanges: ReadonlySet<string>
  readonly owners: ReadonlyMap<string, string>
}

function addressFor(
  service: Service,
  { ranges, inRanges, owners }: Ranges,
): { address?: string; fault: string | undefined } {
  const name = serviceName(service)
  const asked = service.spec?.loadBalancerIP ?? ''
  if (asked !== '') {
    const owner = owners.get(asked)
    if (!inRanges.has(asked)) return { fault: `${asked} is not in the ranges of the site` }
    if (owner !== undefined && owner !== name) return { fault: `service ${owner} has ${asked}` }
    return { address: asked, fault: undefined }
  }
  for (const [address, owner] of owners) if (owner === name) return { address, fault: undefined }
  const free = ranges.find((address) => !owners.has(address))
  if (free === undefined) return { fault: 'all addresses of the ranges are in use' }
  return { address: free, fault: undefined }
}
