import type {
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
} from '../generated/types.ts'
import { podResources } from './pod-resources.ts'
import type { QuotaUser } from './quota-usage.ts'

/**
 * Returns true if the quota has no scope, or the object is in all of its scopes. Only pods and
 * claims have scopes.
 */
export function isInQuotaScopes(quota: ResourceQuota, { pod, claim }: QuotaUser): boolean {
  return requirementsOf(quota).every((requirement) => {
    if (pod !== undefined) return podScopes[requirement.scopeName]?.(pod, requirement) === true
    if (claim === undefined || requirement.scopeName !== 'VolumeAttributesClass') return false
    return attributesClassesOf(claim).some((name) => matchesName(name, requirement))
  })
}

export function hasQuotaScopes(quota: ResourceQuota): boolean {
  return requirementsOf(quota).length > 0
}

function requirementsOf({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] {
  const plain = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }))
  return [...plain, ...(spec?.scopeSelector?.matchExpressions ?? [])]
}

type PodScope = (pod: Pod, requirement: ScopedResourceSelectorRequirement) => boolean

const podScopes: Readonly<Record<string, PodScope>> = Object.freeze<Record<string, PodScope>>({
  Terminating: ({ spec }) => spec?.activeDeadlineSeconds !== undefined,
  NotTerminating: ({ spec }) => spec?.activeDeadlineSeconds === undefined,
  BestEffort: isBestEffort,
  NotBestEffort: (pod) => !isBestEffort(pod),
  PriorityClass: ({ spec }, requirement) => matchesName(spec?.priorityClassName ?? '', requirement),
  CrossNamespacePodAffinity: crossesNamespaces,
})

/** An empty name is neither in a list nor outside one. */
function matchesName(
  name: string,
  { operator, values = [] }: ScopedResourceSelectorRequirement,
): boolean {
  switch (operator) {
    case 'Exists':
      return name !== ''
    case 'DoesNotExist':
      return name === ''
    case 'In':
      return name !== '' && values.includes(name)
    case 'NotIn':
      return name === '' || !values.includes(name)
    default:
      return false
  }
}

/** Returns the requested class, the one in effect, and the one being applied. */
function attributesClassesOf({ spec, status }: PersistentVolumeClaim): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].flatMap((name) => (name ? [name] : []))
  return names.length === 0 ? [''] : names
}

function isBestEffort({ spec }: Pod): boolean {
  if (!spec) return true
  const amounts = { ...podResources(spec, 'requests'), ...podResources(spec, 'limits') }
  return amounts['cpu'] === undefined && amounts['memory'] === undefined
}

function crossesNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
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
