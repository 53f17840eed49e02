import {
  matchesAffinity,
  type BindingSpec,
  type ClusterAffinity,
  type ClusterAffinityTerm,
} from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { isWorkload } from './workload.ts'

/** Returns the affinity of this name if the placement has several; undefined if it has one or none. */
export function affinityTerm(
  { placement }: BindingSpec,
  affinityName: string | undefined,
): ClusterAffinityTerm | undefined {
  if (placement?.clusterAffinity !== undefined) return undefined
  return placement?.clusterAffinities?.find((term) => term.affinityName === affinityName)
}

/** A cluster must match one of them; without any, every cluster does. */
export function affinitiesInForce(
  spec: BindingSpec,
  affinityName: string | undefined,
): readonly ClusterAffinity[] {
  const { clusterAffinity } = spec.placement ?? {}
  if (clusterAffinity !== undefined) return [clusterAffinity]
  const term = affinityTerm(spec, affinityName)
  if (term === undefined) return []
  // Objects without replicas need no room, so they do not overflow.
  return isWorkload(spec) ? [term, ...(term.overflowAffinities ?? [])] : [term]
}

/** Returns 0 for the term itself and n for its nth overflow: a cluster is used after all with smaller numbers. */
export function overflowOrder(
  cluster: Cluster,
  spec: BindingSpec,
  affinityName: string | undefined,
): number {
  const term = affinityTerm(spec, affinityName)
  if (term === undefined) return 0
  const order = [term, ...(term.overflowAffinities ?? [])].findIndex((affinity) =>
    matchesAffinity(cluster, affinity),
  )
  return order < 0 ? Number.MAX_SAFE_INTEGER : order
}
