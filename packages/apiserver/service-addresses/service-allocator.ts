import { isIP } from 'node:net'
import {
  checkPathSegment,
  fieldInvalid,
  fieldRequired,
  type AnyObject,
  type Service,
  type StatusCause,
} from '@skerry/api'
import type { Random } from '@skerry/base'
import { StatusError } from '@skerry/api'
import { followResource } from '../cache/follow-resource.ts'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Interceptor, Reservation } from '../registry/interceptor.ts'
import { invalid } from '../registry/registry-errors.ts'
import type { RequestScope } from '../registry/request-scope.ts'
import { typed } from '../contract/typed-objects.ts'
import { parseRange, type AddressRange } from './address-range.ts'
import { takeNodePorts, type PortRange } from './node-ports.ts'
import { AllocationRecords, type RecordDeps } from './allocation-records.ts'
import { rangesNow, serviceStorage as storage } from './service-ranges.ts'
import {
  holdingsOf,
  holdingsWithout,
  portKey,
  TakenAddresses,
  type Holdings,
} from './taken-addresses.ts'

export interface ServiceAddressOptions {
  /** One CIDR, or one of each family. The first is the primary family. */
  readonly clusterIpRanges: readonly string[]
  readonly nodePorts: PortRange
}

export const serviceAddressDefaults: ServiceAddressOptions = Object.freeze({
  clusterIpRanges: Object.freeze(['10.43.0.0/16']),
  nodePorts: Object.freeze({ first: 30_000, last: 32_767 }),
})

type ServiceSpec = NonNullable<Service['spec']>

const noHoldings: Holdings = Object.freeze({ addresses: [], ports: [] })

/**
 * Assigns cluster IPs and node ports to services. The stored services define what is taken, and each write of one
 * brings the records of its items along, which fails if another server on the same store has taken one meanwhile.
 * A write holds its reservation in this process until it is in the cache.
 */
export function createServiceAllocator(
  options: ServiceAddressOptions,
  deps: RecordDeps,
): Interceptor {
  const ranges = options.clusterIpRanges.map(parseRange)
  const taken = new TakenAddresses()
  const records = new AllocationRecords(deps)
  followServices(deps.cache, taken)
  const allocate = (
    next: AnyObject,
    old: AnyObject | undefined,
    scope: RequestScope,
  ): Reservation => {
    const service = typed<Service>(next)
    const before = old && typed<Service>(old)
    const own = before ? holdingsOf(before) : noHoldings
    if (isRefusedLater(service, own)) return nothingReserved
    const reserved: string[] = []
    const owner = ownerOf(service)
    const isTaken = (item: string): boolean => taken.isTaken(item) || records.isHeld(item, owner)
    const isFree = (item: string): boolean => own.addresses.includes(item) || !isTaken(item)
    const { random } = deps
    const allocation: Allocation = { service, scope, isFree, reserved, random }
    takeFamilies(allocation, ranges)
    if (wantsAddress(service)) takeAddresses(allocation, rangesNow(ranges, deps.cache))
    takeNodePorts({
      service,
      before,
      range: options.nodePorts,
      isTaken: (port) => isTaken(portKey(port)),
      random,
      isDryRun: scope.isDryRun,
      refused: (cause) => refused(service, scope, [cause]),
    })
    const holdings = holdingsOf(service)
    taken.reserve(holdings)
    let isOpen = true
    const settle = (): void => {
      if (isOpen) taken.release(holdings)
      isOpen = false
    }
    const companions = [
      ...records.taking(holdingsWithout(holdings, own), owner),
      ...records.releasing(holdingsWithout(own, holdings), owner),
    ]
    // Once durable, the cache's own event holds them, so the reservation can be released.
    return { companions, commit: settle, rollback: settle }
  }
  return {
    onCreate: (next, scope) => allocate(next, undefined, scope),
    onUpdate: (next, old, scope) => allocate(next, old, scope),
    onDelete: (old) => records.releasing(holdingsOf(typed<Service>(old)), ownerOf(old)),
  }
}

/** Returns the service's key in its cache. */
function ownerOf({ metadata }: Pick<AnyObject, 'metadata'>): string {
  return `${metadata.namespace}/${metadata.name}`
}

const nothingReserved: Reservation = Object.freeze({
  companions: [],
  commit: () => undefined,
  rollback: () => undefined,
})

/** Validation comes after the allocation and has the better message for these. */
function isRefusedLater({ spec }: Service, own: Holdings): boolean {
  if (spec?.type === 'ExternalName') return false
  const { clusterIP, clusterIPs = [] } = spec ?? {}
  const [first] = clusterIPs
  if (first !== undefined && first !== clusterIP) return true
  if (clusterIPs.some((address) => address !== 'None' && isIP(address) === 0)) return true
  const [before] = own.addresses
  return before !== undefined && first !== undefined && first !== 'None' && first !== before
}

function followServices(cache: WatchCache, taken: TakenAddresses): void {
  const seeAll = (resource: ResourceCache): void => {
    taken.forgetServices()
    for (const cached of resource.list()) taken.see(cached.key, holdingsOf(typed(cached.parse())))
  }
  seeAll(cache.resource(storage))
  followResource(cache, storage, {
    onEvent: ({ type, object }) =>
      taken.see(object.key, type === 'put' ? holdingsOf(typed(object.parse())) : undefined),
    onReset: seeAll,
  })
}

interface Allocation {
  readonly service: Service
  readonly scope: RequestScope
  readonly isFree: (item: string) => boolean
  /** The items that this service takes, so that none is given twice. */
  readonly reserved: string[]
  readonly random: Random
}

function takeFamilies({ service, scope }: Allocation, ranges: readonly AddressRange[]): void {
  const spec = (service.spec ??= {})
  if (spec.type === 'ExternalName') return
  const configured = ranges.map(({ family }) => family)
  const isHeadless = spec.clusterIPs?.[0] === 'None'
  const hasSelector = Object.keys(spec.selector ?? {}).length > 0
  if (isHeadless && !hasSelector) {
    spec.ipFamilyPolicy ??= 'RequireDualStack'
    const [first = configured[0] ?? 'IPv4'] = spec.ipFamilies ?? []
    const second = first === 'IPv4' ? 'IPv6' : 'IPv4'
    if (spec.ipFamilyPolicy === 'SingleStack') spec.ipFamilies ??= [first]
    else if ((spec.ipFamilies ?? []).length < 2) spec.ipFamilies = [first, second]
    return
  }
  const causes: StatusCause[] = []
  const isDual = configured.length > 1
  const wantsTwo = (spec.ipFamilies ?? []).length > 1 || (spec.clusterIPs ?? []).length > 1
  spec.ipFamilyPolicy ??= wantsTwo ? 'RequireDualStack' : 'SingleStack'
  if (spec.ipFamilyPolicy === 'RequireDualStack' && !isDual) {
    const detail = 'this cluster is not configured for dual-stack services'
    causes.push(fieldInvalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail))
  }
  for (const [at, family] of (spec.ipFamilies ?? []).entries()) {
    if (configured.some((known) => known === family)) continue
    causes.push(fieldInvalid(`spec.ipFamilies[${at}]`, family, 'not configured on this cluster'))
  }
  if (causes.length > 0) throw refused(service, scope, causes)
  const first = firstFamily(spec, ranges)
  const wanted = spec.ipFamilyPolicy === 'SingleStack' ? 1 : configured.length
  spec.ipFamilies = [first, ...configured.filter((family) => family !== first)].slice(0, wanted)
}

function firstFamily(spec: ServiceSpec, ranges: readonly AddressRange[]): string {
  const [asked] = spec.ipFamilies ?? []
  if (asked !== undefined) return asked
  const [address] = spec.clusterIPs ?? []
  const byAddress = ranges.find((range) => address !== undefined && range.contains(address))
  return (byAddress ?? ranges[0])?.family ?? 'IPv4'
}

function wantsAddress({ spec }: Service): boolean {
  return spec?.type !== 'ExternalName' && spec?.clusterIPs?.[0] !== 'None'
}

function takeAddresses(allocation: Allocation, ranges: readonly AddressRange[]): void {
  const { service, scope, isFree, reserved, random } = allocation
  const spec = (service.spec ??= {})
  const asked = spec.clusterIPs ?? []
  const addresses: string[] = []
  for (const [at, family] of (spec.ipFamilies ?? []).entries()) {
    const own = ranges.filter((candidate) => candidate.family === family)
    const [primary] = own
    if (!primary) continue
    const address = asked[at]
    const refuse = (why: string): never => {
      const what = address ? `failed to allocate IP ${address}` : 'failed to allocate IP'
      const shown = address ? asked : [...asked, '']
      throw refused(service, scope, [fieldInvalid('spec.clusterIPs', shown, `${what}: ${why}`)])
    }
    if (address) {
      if (!own.some((range) => range.contains(address)))
        refuse('the provided network does not match the current range')
      if (!isFree(address)) refuse('provided IP is already allocated')
      requireHolder(address, allocation, refuse)
      addresses.push(address)
      continue
    }
    const isTaken = (candidate: string): boolean =>
      !isFree(candidate) || reserved.includes(candidate)
    // A dry run takes nothing; upstream shows the range's own address.
    const picked = scope.isDryRun ? primary.cidr.split('/')[0] : pickFrom(own, isTaken, random)
    if (picked === undefined) throw exhausted('range is full')
    requireHolder(picked, allocation, refuse)
    addresses.push(picked)
    reserved.push(picked)
  }
  spec.clusterIPs = addresses
  const [first] = addresses
  if (first !== undefined) spec.clusterIP = first
}

/** The IPAddress object records which service has the address. A service that it cannot name gets none. */
function requireHolder(
  address: string,
  { service, scope }: Allocation,
  refuse: (why: string) => never,
): void {
  if (scope.isDryRun) return
  const { name = '' } = service.metadata
  const field = 'spec.parentRef.name'
  const causes =
    name === ''
      ? [fieldRequired(field)]
      : checkPathSegment(name).map((text) => fieldInvalid(field, name, text))
  const kind = { group: 'networking.k8s.io', kind: 'IPAddress', resource: 'ipaddresses' }
  if (causes.length > 0) refuse(invalid(kind, address, causes).message)
}

function pickFrom(
  ranges: readonly AddressRange[],
  isTaken: (address: string) => boolean,
  random: Random,
): string | undefined {
  for (const range of ranges) {
    const picked = range.pick(isTaken, random)
    if (picked !== undefined) return picked
  }
  return undefined
}

function refused(service: Service, scope: RequestScope, causes: StatusCause[]): StatusError {
  return invalid(scope.reader.kind, service.metadata?.name ?? '', causes)
}

function exhausted(why: string): StatusError {
  return new StatusError(
    'InternalError',
    `Internal error occurred: failed to allocate a serviceIP: ${why}`,
  )
}
