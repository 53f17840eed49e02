import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
  type Node,
  type Pod,
  type Quantity,
} from '@skerry/api'
import type { Discovery } from '@skerry/client'
import type { ApiEnablement, NodeSummary, ResourceSummary } from '@skerry/fleet-kinds'
import { isNodeReady } from './node-ready.ts'

/** Returns every API that the cluster serves, in the order of Karmada's own agent. */
export function apiEnablementsOf({ resources }: Pick<Discovery, 'resources'>): ApiEnablement[] {
  const groups = new Map<string, { name: string; kind: string }[]>()
  for (const { group, version, resource, kind } of resources) {
    const groupVersion = group === '' ? version : `${group}/${version}`
    const known = groups.get(groupVersion) ?? []
    known.push({ name: resource, kind })
    groups.set(groupVersion, known)
  }
  return [...groups]
    .map(([groupVersion, list]) => ({
      groupVersion,
      resources: list.toSorted((a, b) => order(a.name, b.name)),
    }))
    .toSorted((a, b) => order(a.groupVersion, b.groupVersion))
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

export function nodeSummaryOf(nodes: readonly Node[]): NodeSummary {
  return { totalNum: nodes.length, readyNum: nodes.filter(isNodeReady).length }
}

/**
 * Sums the allocatable resources of all nodes, the requests of pods on a node (allocated), and of pending
 * pods (allocating).
 */
export function resourceSummaryOf(nodes: readonly Node[], pods: readonly Pod[]): ResourceSummary {
  const offers: Counts<Readonly<Record<string, string>>> = new Map()
  const onNodes: Counts<ReadonlyMap<string, Quantity>> = new Map()
  const waiting: Counts<ReadonlyMap<string, Quantity>> = new Map()
  for (const { status } of nodes) if (status?.allocatable) count(offers, status.allocatable)
  for (const pod of pods) {
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') continue
    count(pod.spec?.nodeName ? onNodes : waiting, podRequests(pod))
  }
  const allocatable: Totals = new Map()
  for (const [texts, nodesOfIt] of offers) {
    for (const [name, text] of Object.entries(texts)) {
      add(allocatable, name, times(parseQuantity(text), nodesOfIt))
    }
  }
  return {
    allocatable: textOf(allocatable),
    allocated: textOf(totalOf(onNodes)),
    allocating: textOf(totalOf(waiting)),
  }
}

/** Counts identical objects: each is added once, times its number, because most of many thousands are alike. */
type Counts<T> = Map<T, number>

function count<T>(counts: Counts<T>, one: T): void {
  counts.set(one, (counts.get(one) ?? 0) + 1)
}

function totalOf(counts: Counts<ReadonlyMap<string, Quantity>>): Totals {
  const totals: Totals = new Map()
  for (const [requests, pods] of counts) {
    for (const [name, quantity] of requests) add(totals, name, times(quantity, pods))
    add(totals, 'pods', quantityOf(pods))
  }
  return totals
}

/** Multiplies a quantity, in the form that repeated addition would give. */
function times(quantity: Quantity, factor: number): Quantity {
  if (factor === 1) return quantity
  return { nanos: quantity.nanos * BigInt(factor), format: quantity.format }
}

type Totals = Map<string, Quantity>

/** The requests of pods that share a container list, as slim-objects.ts makes them, computed once. */
const requestsOf = new WeakMap<object, { readonly of: Pod['spec']; readonly requests: Totals }>()

/** The larger of what the containers ask together and what any init container asks alone. */
export function podRequests({ spec }: Pod): ReadonlyMap<string, Quantity> {
  const known = spec && requestsOf.get(spec.containers)
  const isSame =
    known?.of?.initContainers === spec?.initContainers && known?.of?.overhead === spec?.overhead
  if (known && isSame) return known.requests
  const requests = countRequests(spec)
  if (spec) requestsOf.set(spec.containers, { of: spec, requests })
  return requests
}

function countRequests(spec: Pod['spec']): Totals {
  const running: Totals = new Map()
  for (const { resources } of spec?.containers ?? []) addAll(running, resources?.requests ?? {})
  const sidecars: Totals = new Map()
  const peak: Totals = new Map()
  for (const { resources, restartPolicy } of spec?.initContainers ?? []) {
    const requests = resources?.requests ?? {}
    if (restartPolicy === 'Always') addAll(sidecars, requests)
    const now: Totals = new Map(sidecars)
    if (restartPolicy !== 'Always') addAll(now, requests)
    for (const [name, quantity] of now) raise(peak, name, quantity)
  }
  for (const [name, quantity] of sidecars) add(running, name, quantity)
  for (const [name, quantity] of peak) raise(running, name, quantity)
  addAll(running, spec?.overhead ?? {})
  return running
}

function addAll(totals: Totals, quantities: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(quantities)) add(totals, name, parseQuantity(text))
}

function add(totals: Totals, name: string, quantity: Quantity): void {
  const known = totals.get(name)
  totals.set(name, known ? addQuantities(known, quantity) : quantity)
}

function raise(totals: Totals, name: string, quantity: Quantity): void {
  const known = totals.get(name)
  if (!known || compareQuantities(quantity, known) > 0) totals.set(name, quantity)
}

function textOf(totals: Totals): Record<string, string> {
  return Object.fromEntries([...totals].map(([name, quantity]) => [name, formatQuantity(quantity)]))
}
