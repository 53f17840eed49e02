import { parseQuantity, quantityToNumber, subtractQuantities, type Quantity } from '@skerry/api'
import type { ResourceSummary } from '@skerry/fleet-kinds'

/**
 * Returns the allocatable quantity minus what is allocated and what pending pods request; undefined if the
 * cluster lacks the resource.
 */
export function availableQuantity(summary: ResourceSummary, name: string): Quantity | undefined {
  const { allocatable = {}, allocated = {}, allocating = {} } = summary
  const whole = allocatable[name]
  if (whole === undefined) return undefined
  return [allocated[name], allocating[name]]
    .filter((text) => text !== undefined)
    .reduce((rest, text) => subtractQuantities(rest, parseQuantity(text)), parseQuantity(whole))
}

/** Returns how many more pods its nodes allow; never less than 0. */
export function podsLeft({ allocatable, allocated, allocating }: ResourceSummary): number {
  const podsOf = (list: Record<string, string> = {}): number => quantityToNumber(list.pods ?? '0')
  return Math.max(0, podsOf(allocatable) - podsOf(allocated) - podsOf(allocating))
}
