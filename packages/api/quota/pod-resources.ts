import type { Container, PodSpec } from '../generated/types.ts'
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../quantity.ts'

export type ResourceList = Readonly<Record<string, string>>

/**
 * Returns the total resources of a pod: its containers together, or its largest init container if
 * that is more; sidecars count with both. Pod-level amounts take precedence.
 */
export function podResources(spec: PodSpec, list: 'requests' | 'limits'): ResourceList {
  const of = (container: Container): ResourceList => container.resources?.[list] ?? {}
  let total: ResourceList = {}
  for (const container of spec.containers ?? []) total = addLists(total, of(container))
  let sidecars: ResourceList = {}
  let initMost: ResourceList = {}
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      total = addLists(total, of(container))
      sidecars = addLists(sidecars, of(container))
      initMost = maxLists(initMost, sidecars)
    } else initMost = maxLists(initMost, addLists(of(container), sidecars))
  }
  total = maxLists(total, initMost)
  const ofPod = spec.resources?.[list] ?? {}
  const shared = Object.entries(ofPod).filter(([name]) => isPodLevel(name))
  return { ...total, ...Object.fromEntries(shared) }
}

/** Returns true for resources that a whole pod may request. */
function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}

export function addLists(a: ResourceList, b: ResourceList): ResourceList {
  return merge(a, b, (left, right) =>
    formatQuantity(addQuantities(parseQuantity(left), parseQuantity(right))),
  )
}

function maxLists(a: ResourceList, b: ResourceList): ResourceList {
  return merge(a, b, (left, right) => (isAbove(left, right) ? left : right))
}

export function isAbove(a: string, b: string): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b)) > 0
}

function merge(
  a: ResourceList,
  b: ResourceList,
  both: (left: string, right: string) => string,
): ResourceList {
  const merged: Record<string, string> = { ...a }
  for (const [name, amount] of Object.entries(b)) {
    const present = merged[name]
    merged[name] = present === undefined ? amount : both(present, amount)
  }
  return merged
}
