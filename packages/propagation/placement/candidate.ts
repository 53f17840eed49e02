import type { BindingSpec } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { overflowOrder } from './affinity-terms.ts'
import { estimateReplicas, replicasUnbounded } from './estimate-replicas.ts'
import { replicasByName } from './workload.ts'

/** A cluster that fits, as selection and division see it. */
export interface Candidate {
  readonly name: string
  readonly cluster: Cluster
  /** The score: 100 if the object is already there, otherwise 0. */
  readonly score: number
  /** Smaller numbers are used first; see overflowOrder. */
  readonly order: number
  /** The replicas that it could take in addition to those that it has. */
  readonly allocatable: number
  /** The sum of allocatable and present replicas. */
  readonly available: number
}

/** All that fit, best first. */
export function candidatesOf(
  clusters: readonly Cluster[],
  spec: BindingSpec,
  affinityName: string | undefined,
): Candidate[] {
  return clusters
    .map((cluster) => candidateOf(cluster, spec, affinityName))
    .toSorted(compareCandidates)
}

function candidateOf(
  cluster: Cluster,
  spec: BindingSpec,
  affinityName: string | undefined,
): Candidate {
  const name = cluster.metadata.name ?? ''
  const placed = replicasByName(spec.clusters).get(name)
  const allocatable = allocatableOf(cluster, spec)
  return {
    name,
    cluster,
    score: placed === undefined ? 0 : 100,
    order: overflowOrder(cluster, spec, affinityName),
    allocatable,
    available: allocatable + (placed ?? 0),
  }
}

/** Returns the estimate. An unlimited one becomes the number of replicas, so that weights stay comparable. */
function allocatableOf(cluster: Cluster, spec: BindingSpec): number {
  const estimate = estimateReplicas(cluster, spec)
  const { replicas = 0, components = [] } = spec
  const isEstimated = replicas > 0 || components.length > 0
  return isEstimated && estimate === replicasUnbounded ? replicas : estimate
}

/** A total order: where it is already, then where there is most room, then by name. */
export function compareCandidates(one: Candidate, other: Candidate): number {
  if (one.order !== other.order) return one.order - other.order
  if (one.score !== other.score) return other.score - one.score
  if (one.available !== other.available) return other.available - one.available
  return one.name < other.name ? -1 : 1
}
