import type { Taint, Toleration } from '@skerry/api'
import type { ResourceBinding } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { appliedPlacement } from '../placement/needs-placement.ts'
import { tolerates } from '../placement/tolerates.ts'
import { propagationBounds } from '../limits-table.ts'

export interface TaintEvictionPlan {
  /** The clusters that the object must leave now. */
  readonly evicted: readonly string[]
  /** The time until the next toleration is over; omitted if none ends. */
  readonly afterMs?: number
}

/**
 * Decides which of its clusters an object must leave, by their NoExecute taints and the tolerations of the
 * placement that put it there. Objects that no scheduler placed stay.
 */
export function planTaintEviction(
  binding: ResourceBinding,
  clusters: readonly Cluster[],
  nowMs: number,
): TaintEvictionPlan {
  const placement = appliedPlacement(binding)
  if (placement === undefined) return { evicted: [] }
  const tolerations = placement.clusterTolerations ?? []
  const ends = new Map<string, number>()
  for (const { metadata, spec } of clusters) {
    const taints = (spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
    if (taints.length > 0) ends.set(metadata.name ?? '', endOfToleration(taints, tolerations))
  }
  const evicted = [...ends].filter(([, endMs]) => endMs < nowMs).map(([name]) => name)
  const nextMs = Math.min(...[...ends.values()].filter((endMs) => endMs >= nowMs))
  if (nextMs === Infinity) return { evicted }
  return { evicted, afterMs: nextMs - nowMs + momentMs }
}

const { momentMs } = propagationBounds.planTaintEviction

/**
 * Returns the end in milliseconds of the clock: -Infinity if a taint is not tolerated, Infinity if all are
 * tolerated forever.
 */
function endOfToleration(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const used = taints.map((taint) => tolerations.find((each) => tolerates(each, taint)))
  if (used.includes(undefined)) return -Infinity
  const ends = used.flatMap((toleration) => {
    const seconds = toleration?.tolerationSeconds
    if (toleration === undefined || seconds === undefined) return []
    return taints
      .filter((taint) => taint.timeAdded !== undefined && tolerates(toleration, taint))
      .map(({ timeAdded = '' }) => Date.parse(timeAdded) + seconds * 1000)
  })
  return Math.min(...ends)
}
