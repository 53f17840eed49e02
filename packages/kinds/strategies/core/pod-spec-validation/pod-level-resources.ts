import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type PodSpec,
  type Quantity,
} from '@skerry/api'
import type { Loose } from '../../typed-strategy.ts'
import { addMissingAmounts, type ResourceList } from './resource-list.ts'

type Side = 'requests' | 'limits'
type Amounts = ReadonlyMap<string, Quantity>

/** Sets the resources of the pod as a whole; omitted ones are derived from its containers and limits. */
export function applyPodLevelDefaults(spec: Loose<PodSpec>): void {
  const { resources } = spec
  if (!resources) return
  limitHugePages(spec)
  if (Object.keys(resources.limits ?? {}).length === 0) return
  const requests: ResourceList = { ...resources.requests }
  const ofContainers = toList(containerTotal(spec, 'requests'), (name) => !isHugePage(name))
  addMissingAmounts(requests, ofContainers)
  addMissingAmounts(requests, onlyPodLevel(resources.limits))
  if (Object.keys(requests).length > 0) resources.requests = requests
}

/** Huge pages cannot be overcommitted, so a request of containers is a limit of the pod. */
function limitHugePages(spec: Loose<PodSpec>): void {
  const { resources } = spec
  if (!resources) return
  const { requests = {}, limits = {} } = resources
  if (Object.keys(requests).length + Object.keys(limits).length === 0) return
  const isMissing = (name: string): boolean => isHugePage(name) && !(name in requests)
  const filled: ResourceList = { ...limits }
  addMissingAmounts(filled, toList(containerTotal(spec, 'limits'), isMissing))
  if (Object.keys(filled).length > 0) resources.limits = filled
}

export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePage(name)
}

export function isHugePage(name: string): boolean {
  return name.startsWith('hugepages-')
}

/**
 * Returns the containers' peak demand: all of them together with the sidecars, or one init
 * container with the sidecars that were started before it.
 */
export function containerTotal(spec: Loose<PodSpec>, side: Side): Amounts {
  const running = new Map<string, Quantity>()
  for (const container of spec.containers ?? [])
    add(running, amountsOf(container.resources?.[side]))
  const sidecars = new Map<string, Quantity>()
  let peak = new Map<string, Quantity>()
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container.resources?.[side])
    if (container.restartPolicy === 'Always') {
      add(running, own)
      add(sidecars, own)
      peak = largest(peak, sidecars)
    } else {
      const beside = new Map(sidecars)
      add(beside, own)
      peak = largest(peak, beside)
    }
  }
  return largest(running, peak)
}

function amountsOf(list: Readonly<Record<string, string>> = {}): Amounts {
  return new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(text)]))
}

function add(sum: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name)
    sum.set(name, before ? addQuantities(before, amount) : amount)
  }
}

function largest(first: Amounts, second: Amounts): Map<string, Quantity> {
  const out = new Map(first)
  for (const [name, amount] of second) {
    const before = out.get(name)
    if (!before || compareQuantities(amount, before) > 0) out.set(name, amount)
  }
  return out
}

function toList(amounts: Amounts, isWanted: (name: string) => boolean): ResourceList {
  const wanted = [...amounts].filter(([name]) => isPodLevelResource(name) && isWanted(name))
  return Object.fromEntries(wanted.map(([name, amount]) => [name, formatQuantity(amount)]))
}

function onlyPodLevel(list: Readonly<Record<string, string>> = {}): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([name]) => isPodLevelResource(name)))
}
