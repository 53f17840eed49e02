import type { BindingSpec, TargetCluster } from '@skerry/karmada-kinds'

/** Reports whether there are pods that need room, rather than just objects such as a ConfigMap. */
export function isWorkload(spec: BindingSpec): boolean {
  return (
    (spec.replicas ?? 0) > 0 ||
    spec.replicaRequirements !== undefined ||
    (spec.components ?? []).length > 0
  )
}

/** Objects are duplicated unless a placement divides them. */
export function isDuplicated({ placement }: BindingSpec): boolean {
  const strategy = placement?.replicaScheduling
  return strategy === undefined || strategy.replicaSchedulingType === 'Duplicated'
}

export function isTarget({ clusters }: BindingSpec, cluster: string): boolean {
  return replicasByName(clusters).has(cluster)
}

const noClusters: readonly TargetCluster[] = Object.freeze([])
const known = new WeakMap<readonly TargetCluster[], ReadonlyMap<string, number>>()

/** Indexes a list that no longer changes, once, however often it is read. */
export function replicasByName(
  clusters: readonly TargetCluster[] = noClusters,
): ReadonlyMap<string, number> {
  const seen = known.get(clusters)
  if (seen !== undefined) return seen
  const made = new Map(clusters.map(({ name, replicas = 0 }) => [name, replicas]))
  known.set(clusters, made)
  return made
}

export function sumOfReplicas(clusters: readonly { readonly replicas?: number }[]): number {
  return clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0)
}
