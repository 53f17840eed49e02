import type { AnyObject, IPAddress, Service } from '@skerry/api'
import type { Clock, Random } from '@skerry/base'
import { encodeCanonical } from '@skerry/bodies'
import { ipText, parseIp } from '@skerry/kinds'
import type { CompanionWrite } from '@skerry/store'
import type { CachedObject } from '../cache/cached-object.ts'
import { resourceKey, storageKey, type WatchCache } from '../cache/watch-cache.ts'
import { typed } from '../contract/typed-objects.ts'
import { newUid } from '../contract/uid.ts'
import { timeText } from '../registry/request-scope.ts'
import { addressStorage, serviceStorage } from './service-ranges.ts'
import { holdingsOf, portOf, type Holdings } from './taken-addresses.ts'

/** The records of node ports. They are not served; upstream keeps all of them in one bitmap. */
export const portStorage = resourceKey('allocation.skerry.io', 'nodeports')

export interface RecordDeps {
  readonly cache: WatchCache
  readonly clock: Clock
  readonly random: Random
}

/**
 * The records in the store that give each address and node port to one service: an IPAddress object, or a record
 * of the port. They are written together with the service, so several servers on one store never give one twice.
 */
export class AllocationRecords {
  readonly #deps: RecordDeps

  constructor(deps: RecordDeps) {
    this.#deps = deps
  }

  /**
   * Returns true if the record gives the item to another service that has it, to an unreadable service, whose
   * items nothing else shows, or to something other than a service. The record of a service that is gone, or has
   * given the item back, counts for nothing.
   */
  isHeld(item: string, owner: string): boolean {
    const { storage, name } = placeOf(item)
    const records = this.#deps.cache.resource(storage)
    if (records.unreadable(name) !== undefined) return true
    const record = records.get(name)
    if (!record) return false
    const holder = holderOf(record)
    if (holder === undefined) return true
    return holder !== owner && this.#has(holder, item)
  }

  /** Returns the writes that give these items to the service. They fail if another server was faster. */
  taking({ addresses, ports }: Holdings, owner: string): CompanionWrite[] {
    return [...addresses, ...ports].map((item) => {
      const { storage, name } = placeOf(item)
      const record = this.#deps.cache.resource(storage).get(name)
      return {
        key: storageKey(storage, name),
        value: encoded(this.#recordOf(item, owner)),
        expectRevision: record?.revision ?? 0,
      }
    })
  }

  /** Returns the writes that take these items from the service, where the records say that it has them. */
  releasing({ addresses, ports }: Holdings, owner: string): CompanionWrite[] {
    return [...addresses, ...ports].flatMap((item) => {
      const { storage, name } = placeOf(item)
      const record = this.#deps.cache.resource(storage).get(name)
      if (!record || holderOf(record) !== owner || isProtected(record)) return []
      return [{ key: storageKey(storage, name), expectRevision: record.revision }]
    })
  }

  #has(service: string, item: string): boolean {
    const services = this.#deps.cache.resource(serviceStorage)
    if (services.unreadable(service) !== undefined) return true
    const cached = services.get(service)
    if (!cached) return false
    const { addresses, ports } = holdingsOf(typed<Service>(cached.parse()))
    const wanted = canonical(item)
    return addresses.some((address) => canonical(address) === wanted) || ports.includes(item)
  }

  #recordOf(item: string, owner: string): AnyObject {
    const { clock, random } = this.#deps
    const [namespace = '', service = ''] = owner.split('/')
    const parentRef = { group: '', resource: 'services', namespace, name: service }
    const { storage, name } = placeOf(item)
    if (storage === portStorage) {
      const head = { apiVersion: 'allocation.skerry.io/v1', kind: 'NodePort' }
      return { ...head, metadata: { name }, spec: { parentRef } }
    }
    return {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: {
        name,
        uid: newUid(random),
        creationTimestamp: timeText(clock.now()),
        labels: {
          'ipaddress.kubernetes.io/ip-family': name.includes(':') ? 'IPv6' : 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef },
    }
  }
}

/** Returns the service that a record names; undefined if it names something else. */
export function holderOf(record: CachedObject): string | undefined {
  const { group, resource, namespace, name } =
    typed<IPAddress>(record.parse()).spec?.parentRef ?? {}
  return group || resource !== 'services' ? undefined : `${namespace}/${name}`
}

/** A finalizer on an IPAddress is a person's: the controller of these objects deletes it with a mark. */
function isProtected(record: CachedObject): boolean {
  return (record.parse().metadata.finalizers ?? []).length > 0
}

function placeOf(item: string): { readonly storage: string; readonly name: string } {
  const port = portOf(item)
  return port === undefined
    ? { storage: addressStorage, name: canonical(item) }
    : { storage: portStorage, name: port }
}

/** Two texts of one IPv6 address have one record. */
function canonical(address: string): string {
  const bytes = parseIp(address)
  return bytes ? ipText(bytes) : address
}

function encoded(object: AnyObject): Uint8Array {
  return Buffer.from(encodeCanonical(object))
}
