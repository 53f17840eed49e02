import type { Service } from '@skerry/api'
import { hasNodePorts, needsHealthCheck } from './node-ports.ts'

/** Addresses and ports that services hold or are about to hold. */
export interface Holdings {
  readonly addresses: readonly string[]
  /** Node ports; see portKey. */
  readonly ports: readonly string[]
}

/** Records the items taken by stored services and by writes that are not yet durable. */
export class TakenAddresses {
  /** The number of holders: a service that is being replaced and its successor hold the same items. */
  readonly #counts = new Map<string, number>()
  readonly #byService = new Map<string, Holdings>()

  isTaken(item: string): boolean {
    return this.#counts.has(item)
  }

  /** Records what the service holds now, or that it is gone if `holdings` is undefined. */
  see(service: string, holdings: Holdings | undefined): void {
    const before = this.#byService.get(service)
    if (holdings) {
      this.#byService.set(service, holdings)
      this.reserve(holdings)
    } else this.#byService.delete(service)
    if (before) this.release(before)
  }

  /** Forgets stored services before they are reported again. Reservations of writes stay. */
  forgetServices(): void {
    for (const service of this.#byService.keys()) this.see(service, undefined)
  }

  reserve({ addresses, ports }: Holdings): void {
    for (const item of [...addresses, ...ports]) {
      this.#counts.set(item, (this.#counts.get(item) ?? 0) + 1)
    }
  }

  release({ addresses, ports }: Holdings): void {
    for (const item of [...addresses, ...ports]) {
      const count = (this.#counts.get(item) ?? 0) - 1
      if (count > 0) this.#counts.set(item, count)
      else this.#counts.delete(item)
    }
  }
}

export function holdingsOf({ spec = {} }: Service): Holdings {
  const addresses = (spec.clusterIPs ?? []).filter((address) => address !== 'None')
  const numbers = (spec.ports ?? []).map(({ nodePort = 0 }) => nodePort)
  const held = [
    ...(hasNodePorts(spec) ? numbers : []),
    ...(needsHealthCheck(spec) ? [spec.healthCheckNodePort ?? 0] : []),
  ]
  const ports = [...new Set(held)].filter((port) => port !== 0).map(portKey)
  return { addresses, ports }
}

export function portKey(port: number): string {
  return `${portPrefix}${port}`
}

/** Returns the number as a text; undefined for an address. */
export function portOf(item: string): string | undefined {
  return item.startsWith(portPrefix) ? item.slice(portPrefix.length) : undefined
}

const portPrefix = 'port '

/** Returns those of the first that the second does not have. */
export function holdingsWithout(holdings: Holdings, others: Holdings): Holdings {
  return {
    addresses: holdings.addresses.filter((address) => !others.addresses.includes(address)),
    ports: holdings.ports.filter((port) => !others.ports.includes(port)),
  }
}
