import {
  quantityToMilli,
  quantityToNumber,
  type Container,
  type EphemeralContainer,
  type ResourceFieldSelector,
} from '@skerry/api'

/** The limits of a container without its own: everything that the node gives to pods. */
export interface NodeAllocatable {
  cpuMilli: number
  memoryBytes: number
  ephemeralStorageBytes: number
}

/** Returns the value of a resourceFieldRef, divided and rounded up; undefined if there is no such resource. */
export function containerResource(
  selector: ResourceFieldSelector,
  container: Container | EphemeralContainer,
  allocatable: NodeAllocatable,
): string | undefined {
  const [list, ...rest] = selector.resource.split('.')
  const name = rest.join('.')
  const limits = container.resources?.limits?.[name]
  const asked =
    list === 'limits' ? limits : list === 'requests' ? container.resources?.requests?.[name] : null
  if (asked === null) return undefined
  const given = asked ?? (list === 'limits' ? undefined : '0')
  if (name === 'cpu') {
    const milli = given === undefined ? allocatable.cpuMilli : quantityToMilli(given)
    return divided(milli, quantityToMilli(divisorOf(selector)))
  }
  const fallback = name === 'memory' ? allocatable.memoryBytes : allocatable.ephemeralStorageBytes
  if (name !== 'memory' && name !== 'ephemeral-storage' && !name.startsWith('hugepages-')) {
    return undefined
  }
  const bytes = given === undefined ? fallback : quantityToNumber(given)
  return divided(bytes, quantityToNumber(divisorOf(selector)))
}

function divisorOf(selector: ResourceFieldSelector): string {
  return selector.divisor === undefined || selector.divisor === '0' ? '1' : selector.divisor
}

function divided(value: number, divisor: number): string {
  return String(Math.ceil(value / divisor))
}
