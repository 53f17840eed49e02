import { matchesAffinity, type BindingSpec, type TargetCluster } from '@skerry/karmada-kinds'
import type { Candidate } from './candidate.ts'
import { divideSeats } from './divide-seats.ts'

/**
 * By the weights that the policy gives: of several that mean a cluster the largest. Without any that
 * means a candidate, all weigh the same; else a candidate that none means gets nothing.
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
