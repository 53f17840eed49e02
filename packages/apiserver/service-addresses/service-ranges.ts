import type { ServiceCIDR } from '@skerry/api'
import { resourceKey, type WatchCache } from '../cache/watch-cache.ts'
import { typed } from '../contract/typed-objects.ts'
import { parseRange, type AddressRange } from './address-range.ts'

export const serviceStorage = resourceKey('', 'services')
const cidrStorage = resourceKey('networking.k8s.io', 'servicecidrs')
export const addressStorage = resourceKey('networking.k8s.io', 'ipaddresses')

/**
 * Returns the ranges that addresses may be taken from: the configured ones, then those of ready
 * ServiceCIDR objects. Reads the objects each time, because there are few, and services are created
 * rarely.
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
