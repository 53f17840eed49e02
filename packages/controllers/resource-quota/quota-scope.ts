import type { Pod, ResourceQuota, ScopedResourceSelectorRequirement } from '@skerry/api'

/** True when the quota has no scope, or the pod is in all of its scopes. */
export function isInScope(quota: ResourceQuota, pod: Pod): boolean {
  return requirementsOf(quota).every((requirement) => matches(requirement, pod))
}

/** A quota with scopes speaks of pods alone. */
export function hasScopes(quota: ResourceQuota): boolean {
  return requirementsOf(quota).length > 0
}

function requirementsOf({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] {
  const plain = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }))
  return [...plain, ...(spec?.scopeSelector?.matchExpressions ?? [])]
}

function matches(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  pod: Pod,
): boolean {
  switch (scopeName) {
    case 'Terminating':
      return pod.spec?.activeDeadlineSeconds !== undefined
    case 'NotTerminating':
      return pod.spec?.activeDeadlineSeconds === undefined
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return matchesName(operator, values, pod.spec?.priorityClassName)
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod)
    default:
      return false
  }
}

function matchesName(
  operator: string,
  values: readonly string[],
  name: string | undefined,
): boolean {
  const isSet = name !== undefined && name !== ''
  switch (operator) {
    case 'Exists':
      return isSet
    case 'DoesNotExist':
      return !isSet
    case 'In':
      return isSet && values.includes(name)
    case 'NotIn':
      return !isSet || !values.includes(name)
    default:
      return false
  }
}

function isBestEffort(pod: Pod): boolean {
  if (pod.status?.qosClass) return pod.status.qosClass === 'BestEffort'
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
  return containers.every(
    ({ resources }) =>
      Object.keys(resources?.requests ?? {}).length +
        Object.keys(resources?.limits ?? {}).length ===
      0,
  )
}

function crossesNamespaces(pod: Pod): boolean {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {}
  const terms = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    ),
  ])
  return terms.some(
    ({ namespaces, namespaceSelector }) =>
      (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined,
  )
}
