import type { BindingSpec, TargetCluster } from '@skerry/karmada-kinds'

/**
 * Returns the scheduler's clusters, and those of the bindings whose objects need this one, without
 * duplicates.
 */
export function targetsOf({ clusters = [], requiredBy = [] }: BindingSpec): TargetCluster[] {
  const targets = new Map(clusters.map((target) => [target.name, target]))
  for (const target of requiredBy.flatMap((each) => each.clusters ?? [])) {
    if (!targets.has(target.name)) targets.set(target.name, target)
  }
  return [...targets.values()]
}

/** Returns the clusters that have a copy, or keep theirs until another one has taken over. */
export function keepingClusters(spec: BindingSpec): Set<string> {
  const kept = evictionTasks(spec).filter(({ isAtOnce }) => !isAtOnce)
  return new Set([...targetsOf(spec), ...kept].map(({ name }) => name))
}

/** Returns the clusters that lose their copy before others get theirs. */
export function purgedClusters(spec: BindingSpec): Set<string> {
  const purged = evictionTasks(spec).filter(({ isAtOnce }) => isAtOnce)
  return new Set(purged.map(({ name }) => name))
}

export function isSuspendedOn({ suspension }: BindingSpec, cluster: string): boolean {
  if (suspension?.dispatching === true) return true
  return suspension?.dispatchingOnClusters?.clusterNames?.includes(cluster) ?? false
}

/** Reports whether the scheduler decides the number of the object's replicas. */
export function isWorkload({
  replicas = 0,
  replicaRequirements,
  components,
}: BindingSpec): boolean {
  return replicas > 0 || replicaRequirements !== undefined || (components ?? []).length > 0
}

function evictionTasks({ gracefulEvictionTasks = [] }: BindingSpec) {
  return gracefulEvictionTasks.map(({ fromCluster, purgeMode }) => ({
    name: fromCluster,
    isAtOnce: purgeMode === 'Immediately' || purgeMode === 'Directly',
  }))
}
