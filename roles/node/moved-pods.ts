import type { Pod } from '@skerry/api'
import type { StoredNode } from '@skerry/kubelet'
import { nodeBounds } from './limits-table.ts'

const { namedPodsMax } = nodeBounds.movedPods

/** Says what would end or cut off pods that run here. Finished and static ones do not matter. */
export function faultsOfMove(known: StoredNode, found: StoredNode): string[] {
  if (!found.node) return ['there is no such node']
  const range = known.node?.spec?.podCIDR
  const rangeThere = found.node.spec?.podCIDR
  const faults: string[] = []
  if (range !== undefined && range !== rangeThere) {
    faults.push(`the node's pods have addresses of ${rangeThere ?? 'no range'}, not ${range}`)
  }
  const there = new Set(found.pods.map(({ metadata }) => metadata.uid))
  const missing = known.pods.filter((pod) => matters(pod) && !there.has(pod.metadata.uid))
  if (missing.length > 0) {
    const named = missing
      .slice(0, namedPodsMax)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    const more = missing.length - named.length
    const names = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
    faults.push(`these pods are missing, and would end here: ${names}`)
  }
  return faults
}

function matters({ metadata, status }: Pod): boolean {
  if (metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) return false
  if (metadata.deletionTimestamp !== undefined) return false
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}
