import { refuse, refuseForGood, scoreMax, type Plugin } from '../plugin.ts'
import type { NodeInfo } from '../node-info.ts'
import type { PodInfo } from '../pod-info.ts'

/** Pods that a node without its own limit takes. */
const podsDefault = 110

export const nodeResourcesFit: Plugin = {
  name: 'NodeResourcesFit',
  weight: 1,
  filter: ({ pod }) => {
    const wanted = [...pod.requests].filter(([, amount]) => amount > 0)
    return (node) => {
      const lacking: string[] = []
      let isNeverEnough = false
      if (node.pods.size + 1 > (node.allocatable.get('pods') ?? podsDefault))
        lacking.push('Too many pods')
      for (const [name, amount] of wanted) {
        const allocatable = node.allocatable.get(name) ?? 0
        if (amount <= allocatable - (node.requested.get(name) ?? 0)) continue
        lacking.push(`Insufficient ${name}`)
        if (amount > allocatable) isNeverEnough = true
      }
      if (lacking.length === 0) return undefined
      return isNeverEnough ? refuseForGood(...lacking) : refuse(...lacking)
    }
  },
  // LeastAllocated: the emptier node wins.
  score: ({ pod }) => ({
    of: (node) => {
      const shares = ['cpu', 'memory'].map((name) => 1 - shareAfter(node, pod, name))
      return Math.floor((scoreMax * shares.reduce((sum, share) => sum + Math.max(0, share), 0)) / 2)
    },
  }),
}

/** Prefers nodes whose processor and memory would be used to a like degree. */
export const nodeResourcesBalancedAllocation: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  score: ({ pod }) => {
    if (pod.requests.size === 0) return undefined
    return {
      of: (node) => {
        const cpu = Math.min(1, shareAfter(node, pod, 'cpu'))
        const memory = Math.min(1, shareAfter(node, pod, 'memory'))
        return Math.floor((1 - Math.abs(cpu - memory) / 2) * scoreMax)
      },
    }
  },
}

function shareAfter(node: NodeInfo, pod: PodInfo, name: string): number {
  const allocatable = node.allocatable.get(name) ?? 0
  if (allocatable === 0) return 1
  const used = (node.scoredRequested.get(name) ?? 0) + (pod.scoredRequests.get(name) ?? 0)
  return used / allocatable
}
