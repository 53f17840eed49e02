import { parseQuantity, quantityToNumber, subtractQuantities, type Quantity } from '@skerry/api'
import type { ResourceSummary } from '@skerry/fleet-kinds'

/** What may be given out, without what is, and without what waits for a node; undefined of a resource the cluster has not. */
export function availableQuantity(summary: ResourceSummary, name: string): Quantity | undefined {
  const { allocatable = {}, allocated = {}, allocating = {} } = summary
  const whole = allocatable[name]
  if (whole === undefined) return undefined
  return [allocated[name], allocating[name]]
    .filter((text) => text !== undefined)
    .reduce((rest, text) => subtractQuantities(rest, parseQuantity(text)), parseQuantity(whole))
}

/** How many more pods its nodes allow; never below 0. */
export function podsLeft({ allocatable, allocated, allocating }: ResourceSummary): number {
  const podsOf = (list: Record<string, string> = {}): number => quantityToNumber(list.pods ?? '0')
  return Math.max(0, podsOf(allocatable) - podsOf(allocated) - podsOf(allocating))
}
