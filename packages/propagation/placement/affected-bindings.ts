import { equalJson } from '@skerry/api'
import type { Change } from '@skerry/client'
import { matchesAffinity, type ResourceBinding } from '@skerry/karmada-kinds'
import { appliesWorksAnnotation, type Cluster } from '@skerry/fleet-kinds'
import { isTarget } from './workload.ts'

/**
 * Reports whether a filter might decide differently now. Free room does not count, because it changes all the
 * time.
 */
export function mattersToPlacement({ type, object, old }: Change<Cluster>): boolean {
  if (type !== 'updated') return true
  const { metadata, spec, status } = object
  const before = old.metadata
  return !(
    equalJson(spec, old.spec) &&
    equalJson(metadata.labels ?? {}, before.labels ?? {}) &&
    metadata.deletionTimestamp === before.deletionTimestamp &&
    metadata.annotations?.[appliesWorksAnnotation] ===
      before.annotations?.[appliesWorksAnnotation] &&
    equalJson(status?.apiEnablements ?? [], old.status?.apiEnablements ?? [])
  )
}

/** Reports whether the cluster is, was or may become one of the binding's. */
export function isAffected(
  { spec }: ResourceBinding,
  { object, old }: Pick<Change<Cluster>, 'object' | 'old'>,
): boolean {
  if (isTarget(spec, object.metadata.name ?? '')) return true
  const { clusterAffinity, clusterAffinities } = spec.placement ?? {}
  const affinities =
    clusterAffinity === undefined && clusterAffinities !== undefined
      ? clusterAffinities.flatMap((term) => [term, ...(term.overflowAffinities ?? [])])
      : [clusterAffinity]
  return [object, old].some(
    (cluster) =>
      cluster !== undefined && affinities.some((affinity) => matchesAffinity(cluster, affinity)),
  )
}
