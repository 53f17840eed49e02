import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type PodSpec,
  type Quantity,
  type ResourceRequirements,
} from '@skerry/api'
import type { Loose } from '../typed-strategy.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

type Amounts = Map<string, Quantity>
type Requirements = Pick<Loose<ResourceRequirements>, 'requests' | 'limits'>

/** The only resources that determine the quality of service. */
const countedResources = ['cpu', 'memory'] as const

export function qosClassOf(spec: Loose<PodSpec>): QosClass {
  const consumers = consumersOf(spec)
  const requests: Amounts = new Map()
  const limits: Amounts = new Map()
  for (const consumer of consumers) {
    addPositive(requests, consumer.requests)
    addPositive(limits, consumer.limits)
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  const isLimited = consumers.every((consumer) => {
    const own: Amounts = new Map()
    addPositive(own, consumer.limits)
    return own.size === countedResources.length
  })
  return isLimited && isSame(requests, limits) ? 'Guaranteed' : 'Burstable'
}

function consumersOf(spec: Loose<PodSpec>): Requirements[] {
  if (spec.resources) return [spec.resources]
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  return containers.map((container) => container.resources ?? {})
}

function addPositive(sum: Amounts, amounts: Readonly<Record<string, string>> = {}): void {
  for (const name of countedResources) {
    const text = amounts[name]
    if (text === undefined) continue
    const quantity = parseQuantity(text)
    if (quantity.nanos <= 0n) continue
    const before = sum.get(name)
    sum.set(name, before ? addQuantities(before, quantity) : quantity)
  }
}

function isSame(requests: Amounts, limits: Amounts): boolean {
  if (requests.size !== limits.size) return false
  return [...requests].every(([name, request]) => {
    const limit = limits.get(name)
    return limit !== undefined && compareQuantities(request, limit) === 0
  })
}
