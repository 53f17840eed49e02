import { quantityToNumber, type Container, type Pod } from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const computeResources = ['cpu', 'memory'] as const

/**
 * Returns Guaranteed if every container limits cpu and memory and requests the same amounts, and BestEffort
 * if none requests anything.
 */
export function qosClass(pod: Pod): QosClass {
  const spec = specOf(pod)
  if (spec.resources && hasAny(spec.resources)) return classOf([spec.resources])
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  return classOf(containers.map((container) => container.resources ?? {}))
}

function classOf(all: readonly NonNullable<Container['resources']>[]): QosClass {
  if (!all.some(hasAny)) return 'BestEffort'
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable'
}

function hasAny(resources: NonNullable<Container['resources']>): boolean {
  return computeResources.some(
    (name) => amount(resources.limits?.[name]) > 0 || amount(resources.requests?.[name]) > 0,
  )
}

function isGuaranteed(resources: NonNullable<Container['resources']>): boolean {
  return computeResources.every((name) => {
    const limit = amount(resources.limits?.[name])
    const request = resources.requests?.[name]
    return limit > 0 && (request === undefined || amount(request) === limit)
  })
}

function amount(quantity: string | undefined): number {
  return quantity === undefined ? 0 : quantityToNumber(quantity)
}
