import { equalJson } from '@skerry/api'
import type { ResourceBinding, ClusterAffinityTerm, Placement } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { isRescheduled } from './place-binding.ts'
import { isDuplicated, isWorkload, sumOfReplicas } from './workload.ts'

/** The placement that the clusters in force follow from, as JSON; Karmada's key. */
export const placementAnnotation = 'policy.karmada.io/applied-placement'

/**
 * Reports whether a binding has to be placed (again). Divided replicas stay until their number or placement
 * changes, a user requests it, or one of their clusters is leaving or gone. Duplicated ones are placed each
 * time.
 */
export function needsPlacement(binding: ResourceBinding, clusters: readonly Cluster[]): boolean {
  const { spec, status } = binding
  const { placement } = spec
  if (placement === undefined) return false
  if (hasPlacementChanged(binding, placement) || haveReplicasChanged(binding)) return true
  if (isRescheduled({ spec, ...(status ? { status } : {}) })) return true
  if (!isWorkload(spec) || isDuplicated(spec)) return true
  const staying = new Set(
    clusters
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name),
  )
  return (spec.clusters ?? []).some(({ name }) => !staying.has(name))
}

function haveReplicasChanged({ spec }: ResourceBinding): boolean {
  const { clusters = [], components = [], replicas = 0, placement } = spec
  const type = placement?.replicaScheduling?.replicaSchedulingType
  if (placement?.replicaScheduling === undefined) return false
  if (components.length > 0 && clusters.length === 0) return true
  if (type === 'Duplicated') return clusters.some((each) => (each.replicas ?? 0) !== replicas)
  return type === 'Divided' && sumOfReplicas(clusters) !== replicas
}

function hasPlacementChanged(binding: ResourceBinding, placement: Placement): boolean {
  const applied = appliedPlacement(binding)
  if (applied === undefined) return true
  if (equalJson(placement, applied)) return false
  const { clusterAffinities: now = [], ...rest } = placement
  const { clusterAffinities: before = [], ...appliedRest } = applied
  const { workloadAffinity: _, ...compared } = rest
  const { workloadAffinity: __, ...appliedCompared } = appliedRest
  if (!equalJson(compared, appliedCompared)) return true
  return hasTermChanged(now, before, binding.status?.schedulerObservingAffinityName ?? '')
}

/** Only the term in force counts; the others are tried when it fails. */
function hasTermChanged(
  now: readonly ClusterAffinityTerm[],
  before: readonly ClusterAffinityTerm[],
  inForce: string,
): boolean {
  const termOf = (terms: readonly ClusterAffinityTerm[]): ClusterAffinityTerm | undefined =>
    terms.find(({ affinityName }) => affinityName === inForce)
  const [term, applied] = [termOf(now), termOf(before)]
  return inForce === '' || term === undefined || applied === undefined || !equalJson(term, applied)
}

/** Returns the placement on which the present clusters are based; undefined if no scheduler recorded one. */
export function appliedPlacement({ metadata }: ResourceBinding): Placement | undefined {
  const text = metadata.annotations?.[placementAnnotation]
  if (!text) return undefined
  try {
    // This scheduler or Karmada's wrote it. Any other text differs from the placement, so the object is
    // placed again.
    return JSON.parse(text) as Placement
  } catch {
    return undefined
  }
}
