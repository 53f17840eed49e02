import {
  isInQuotaScopes,
  quotaUsage,
  type AnyObject,
  type GroupResource,
  type PersistentVolumeClaim,
  type Pod,
  type QuotaUser,
  type ResourceList,
  type ResourceQuota,
  type Service,
} from '@skerry/api'
import { typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'

/** Returns the quota that an object uses, by the names that quotas limit. */
export function usageOf(resource: GroupResource, object: AnyObject): ResourceList {
  return quotaUsage(resource, userOf(resource, object))
}

/** Returns true if the quota applies to the object: it has no scopes, or the object is in all of them. */
export function isInScopes(
  quota: ResourceQuota,
  resource: GroupResource,
  object: AnyObject,
): boolean {
  return isInQuotaScopes(quota, userOf(resource, object))
}

function userOf(resource: GroupResource, object: AnyObject): QuotaUser {
  if (isResource(resource, wellKnown.pods)) return { pod: typed<Pod>(object) }
  if (isResource(resource, wellKnown.services)) return { service: typed<Service>(object) }
  if (!isResource(resource, wellKnown.persistentVolumeClaims)) return {}
  return { claim: typed<PersistentVolumeClaim>(object) }
}

/**
 * Describes the amounts that containers must declare because a quota limits them. Returns an empty
 * text if none is missing.
 */
export function missingAmounts(pod: Pod, hard: readonly string[]): string {
  const missing = new Map<string, string[]>()
  for (const name of hard) {
    const [list, resource] = name.startsWith('limits.')
      ? (['limits', name.slice('limits.'.length)] as const)
      : (['requests', name.replace('requests.', '')] as const)
    if (resource !== 'cpu' && resource !== 'memory') continue
    if (pod.spec?.resources?.[list]?.[resource] !== undefined) continue
    const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
    const silent = containers.filter((one) => one.resources?.[list]?.[resource] === undefined)
    if (silent.length > 0) missing.set(name, silent.map((container) => container.name).sort())
  }
  const parts = [...missing].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return parts.map(([name, containers]) => `${name} for: ${containers.join(',')}`).join('; ')
}
