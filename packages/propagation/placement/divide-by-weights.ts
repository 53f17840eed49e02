import { matchesAffinity, type BindingSpec, type TargetCluster } from '@skerry/karmada-kinds'
import type { Candidate } from './candidate.ts'
import { divideSeats } from './divide-seats.ts'

/**
 * Divides by the policy's weights; if several cover a cluster, the largest counts. If none covers any
 * candidate, all weigh the same; otherwise a candidate without a weight gets nothing.
 */
export function divideByWeights(
  candidates: readonly Candidate[],
  { replicas = 0, placement, resource }: BindingSpec,
): TargetCluster[] {
  const weights = placement?.replicaScheduling?.weightPreference?.staticWeightList ?? []
  const weighted = candidates
    .map(({ name, cluster }) => {
      const own = weights.filter(({ targetCluster }) => matchesAffinity(cluster, targetCluster))
      return { name, votes: Math.max(0, ...own.map(({ weight }) => weight)) }
    })
    .filter(({ votes }) => votes > 0)
  const equal = candidates.map(({ name }) => ({ name, votes: 1 }))
  return divideSeats(replicas, weighted.length > 0 ? weighted : equal, resource.uid)
}
