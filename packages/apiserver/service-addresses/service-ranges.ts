import type { IPAddress, ServiceCIDR } from '@skerry/api'
import { resourceKey, type WatchCache } from '../cache/watch-cache.ts'
import { typed } from '../contract/typed-objects.ts'
import { parseRange, type AddressRange } from './address-range.ts'

export const serviceStorage = resourceKey('', 'services')
const cidrStorage = resourceKey('networking.k8s.io', 'servicecidrs')
const addressStorage = resourceKey('networking.k8s.io', 'ipaddresses')

/**
 * Where addresses may be taken from now: the configured ranges, then those of ServiceCIDR objects
 * that are ready. Read from the objects each time: there are few, and services are made seldom.
 */
export function rangesNow(configured: readonly AddressRange[], cache: WatchCache): AddressRange[] {
  const ranges = new Map(configured.map((range) => [range.cidr, range]))
  for (const cached of cache.resource(cidrStorage).list()) {
    const { metadata, spec, status } = typed<ServiceCIDR>(cached.parse())
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    if (metadata.deletionTimestamp !== undefined || ready?.status !== 'True') continue
    for (const cidr of spec?.cidrs ?? []) {
      if (!ranges.has(cidr)) ranges.set(cidr, parseRange(cidr))
    }
  }
  return [...ranges.values()]
}

/**
 * True when an IPAddress object gives the address to something that is not a service, or to a service that cannot be
 * read: nothing else says what that one has.
 */
export function isHeldElsewhere(address: string, cache: WatchCache): boolean {
  const cached = cache.resource(addressStorage).get(address)
  if (!cached) return false
  const { group, resource, namespace, name } =
    typed<IPAddress>(cached.parse()).spec?.parentRef ?? {}
  if (group || resource !== 'services') return true
  return cache.resource(serviceStorage).unreadable(`${namespace}/${name}`) !== undefined
}
