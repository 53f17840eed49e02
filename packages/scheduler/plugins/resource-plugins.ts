import type { Node } from '@skerry/api'
import { isNodeEvent } from '../framework/cluster-event.ts'
import { refuse, refuseForGood, scoreMax, type Plugin } from '../framework/plugin.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import { amountsOf, podInfoOf, type PodInfo } from '../framework/pod-info.ts'
import { shapeValue, type ShapePoint } from './utilization-shape.ts'

export interface ResourceWeight {
  readonly name: string
  readonly weight: number
}

export interface ResourcesFitArgs {
  readonly strategy: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio'
  readonly resources: readonly ResourceWeight[]
  /** For RequestedToCapacityRatio: scores 0..10 over the used share in percent. */
  readonly shape: readonly ShapePoint[]
  readonly ignoredResources: readonly string[]
  /** Prefixes before the slash. */
  readonly ignoredResourceGroups: readonly string[]
}

const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]

export const resourcesFitDefaults: ResourcesFitArgs = Object.freeze({
  strategy: 'LeastAllocated',
  resources: cpuAndMemory,
  shape: [],
  ignoredResources: [],
  ignoredResourceGroups: [],
})

export function nodeResourcesFit(args: ResourcesFitArgs = resourcesFitDefaults): Plugin {
  return {
    name: 'NodeResourcesFit',
    weight: 1,
    filter: ({ pod }) => {
      const wanted = [...pod.requests].filter(
        ([name, amount]) => amount > 0 && isChecked(args, name),
      )
      return (node) => {
        const { lacking, isNeverEnough } = shortages(node, wanted)
        if (lacking.length === 0) return undefined
        return isNeverEnough ? refuseForGood(...lacking) : refuse(...lacking)
      }
    },
    score: ({ pod }) => ({ of: (node) => fitScore(args, node, pod) }),
    isHelpedBy: (event, pod) => {
      if (event.kind === 'pod-removed') return true
      if (event.kind === 'pod-assigned') return event.aspects.scaledDown
      if (!isNodeEvent(event, 'allocatable') || !('node' in event)) return false
      return couldHold(args, event.node, podInfoOf(pod))
    },
  }
}

function isChecked(args: ResourcesFitArgs, name: string): boolean {
  if (args.ignoredResources.includes(name)) return false
  return !name.includes('/') || !args.ignoredResourceGroups.includes(name.split('/')[0] ?? '')
}

interface Shortages {
  readonly lacking: readonly string[]
  /** True if even the empty node has too little. */
  readonly isNeverEnough: boolean
}

function shortages(node: NodeInfo, wanted: readonly (readonly [string, number])[]): Shortages {
  const lacking: string[] = []
  let isNeverEnough = false
  if (node.pods.size + 1 > (node.allocatable.get('pods') ?? 0)) lacking.push('Too many pods')
  for (const [name, amount] of wanted) {
    const allocatable = node.allocatable.get(name) ?? 0
    if (amount <= allocatable - (node.requested.get(name) ?? 0)) continue
    lacking.push(`Insufficient ${name}`)
    if (amount > allocatable) isNeverEnough = true
  }
  return { lacking, isNeverEnough }
}

/** The node without any pods. */
function couldHold(args: ResourcesFitArgs, node: Node, pod: PodInfo): boolean {
  const allocatable = amountsOf(node.status?.allocatable ?? {})
  return [...pod.requests].every(
    ([name, amount]) => !isChecked(args, name) || amount <= (allocatable.get(name) ?? 0),
  )
}

function fitScore(args: ResourcesFitArgs, node: NodeInfo, pod: PodInfo): number {
  let sum = 0
  let weights = 0
  for (const { name, weight } of args.resources) {
    const allocatable = node.allocatable.get(name) ?? 0
    // An extended resource that the pod does not request is ignored.
    const isAsked = isPlain(name) || (pod.requests.get(name) ?? 0) > 0
    if (allocatable === 0 || !isAsked) continue
    const used = usedAfter(node, pod, name)
    sum += resourceScore(args, used, allocatable) * weight
    weights += weight
  }
  if (weights === 0) return 0
  // Ratios are rounded and the other strategies truncate, as upstream.
  return args.strategy === 'RequestedToCapacityRatio'
    ? Math.round(sum / weights)
    : Math.floor(sum / weights)
}

function resourceScore(args: ResourcesFitArgs, used: number, allocatable: number): number {
  switch (args.strategy) {
    case 'LeastAllocated':
      return used > allocatable ? 0 : Math.floor(((allocatable - used) * scoreMax) / allocatable)
    case 'MostAllocated':
      return Math.floor((Math.min(used, allocatable) * scoreMax) / allocatable)
    case 'RequestedToCapacityRatio': {
      const percent = used > allocatable ? 100 : Math.floor((used * 100) / allocatable)
      return shapeValue(args.shape, percent)
    }
  }
}

function isPlain(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name === 'ephemeral-storage'
}

function usedAfter(node: NodeInfo, pod: PodInfo, name: string): number {
  return (node.scoredRequested.get(name) ?? 0) + (pod.scoredRequests.get(name) ?? 0)
}

/**
 * Prefers nodes whose resources are used to a similar degree, and of those the ones that the pod
 * makes more similar: 50 to 100, about 75 if it changes nothing.
 */
export function nodeResourcesBalancedAllocation(
  resources: readonly ResourceWeight[] = cpuAndMemory,
): Plugin {
  const names = resources.map(({ name }) => name)
  return {
    name: 'NodeResourcesBalancedAllocation',
    weight: 1,
    score: ({ pod }) => {
      if (names.every((name) => (pod.requests.get(name) ?? 0) === 0)) return undefined
      return {
        of: (node) => {
          const before = balance(names, node, () => 0)
          const after = balance(names, node, (name) => pod.requests.get(name) ?? 0)
          return Math.floor(scoreMax / 2) + Math.trunc((scoreMax / 2 + after - before) / 2)
        },
      }
    },
  }
}

/** Returns 100 if all resources are used to the same degree, down to 50. */
function balance(
  names: readonly string[],
  node: NodeInfo,
  added: (name: string) => number,
): number {
  const shares = names.flatMap((name) => {
    const allocatable = node.allocatable.get(name) ?? 0
    if (allocatable === 0) return []
    return [Math.min(1, ((node.requested.get(name) ?? 0) + added(name)) / allocatable)]
  })
  return Math.trunc((1 - deviation(shares)) * scoreMax)
}

function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length)
}
