import type { BindingSpec } from '../binding/resource-binding.ts'

/** Whether there are pods to find room for, or just objects such as a ConfigMap. */
export function isWorkload(spec: BindingSpec): boolean {
  return (
    (spec.replicas ?? 0) > 0 ||
    spec.replicaRequirements !== undefined ||
    (spec.components ?? []).length > 0
  )
}

/** Duplicated unless a placement says otherwise. */
export function isDuplicated({ placement }: BindingSpec): boolean {
  const strategy = placement?.replicaScheduling
  return strategy === undefined || strategy.replicaSchedulingType === 'Duplicated'
}

export function isTarget(spec: BindingSpec, cluster: string): boolean {
  return (spec.clusters ?? []).some(({ name }) => name === cluster)
}

export function sumOfReplicas(clusters: readonly { readonly replicas?: number }[]): number {
  return clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0)
}
