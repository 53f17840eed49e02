import type {
  AnyObject,
  GroupResource,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
  Service,
} from '@skerry/api'
import { typed } from '../typed-objects.ts'
import { isResource, wellKnown } from '../well-known-resources.ts'
import { addLists, podResources, type ResourceList } from './pod-resources.ts'

/** What an object takes from a quota, by the names that quotas limit. */
export function usageOf(resource: GroupResource, object: AnyObject): ResourceList {
  const { group, resource: plural } = resource
  const counted: ResourceList = {
    [group === '' ? `count/${plural}` : `count/${plural}.${group}`]: '1',
  }
  if (isResource(resource, wellKnown.pods)) return { ...counted, ...podUsage(typed<Pod>(object)) }
  if (isResource(resource, wellKnown.services)) {
    return { ...counted, ...serviceUsage(typed<Service>(object)) }
  }
  if (isResource(resource, wellKnown.persistentVolumeClaims)) {
    return { ...counted, ...claimUsage(typed<PersistentVolumeClaim>(object)) }
  }
  return group === '' ? { ...counted, [plural]: '1' } : counted
}

/** Resources that a quota may name without the prefix `requests.`. */
const plainNames: readonly string[] = ['cpu', 'memory', 'ephemeral-storage']

function podUsage(pod: Pod): ResourceList {
  const phase = pod.status?.phase
  if (!pod.spec || phase === 'Succeeded' || phase === 'Failed') return {}
  const usage: Record<string, string> = { pods: '1' }
  for (const [name, amount] of Object.entries(podResources(pod.spec, 'requests'))) {
    usage[`requests.${name}`] = amount
    if (plainNames.includes(name) || name.startsWith('hugepages-')) usage[name] = amount
  }
  for (const [name, amount] of Object.entries(podResources(pod.spec, 'limits'))) {
    if (plainNames.includes(name)) usage[`limits.${name}`] = amount
  }
  return addLists(usage, pod.spec.overhead ? overheadUsage(pod.spec.overhead) : {})
}

function overheadUsage(overhead: Readonly<Record<string, string>>): ResourceList {
  const pairs = Object.entries(overhead).flatMap(([name, amount]) => [
    [name, amount] as const,
    [`requests.${name}`, amount] as const,
    [`limits.${name}`, amount] as const,
  ])
  return Object.fromEntries(pairs)
}

function serviceUsage({ spec }: Service): ResourceList {
  const ports = spec?.ports ?? []
  const isBalanced = spec?.type === 'LoadBalancer'
  const nodePorts =
    spec?.type === 'NodePort' || (isBalanced && spec.allocateLoadBalancerNodePorts !== false)
      ? ports.length
      : 0
  return {
    services: '1',
    'services.nodeports': String(nodePorts),
    'services.loadbalancers': isBalanced ? '1' : '0',
  }
}

function claimUsage({ spec }: PersistentVolumeClaim): ResourceList {
  const storage = spec?.resources?.requests?.storage ?? '0'
  const prefix = `${spec?.storageClassName ?? ''}.storageclass.storage.k8s.io/`
  const ofClass: ResourceList = spec?.storageClassName
    ? { [`${prefix}requests.storage`]: storage, [`${prefix}persistentvolumeclaims`]: '1' }
    : {}
  return { persistentvolumeclaims: '1', 'requests.storage': storage, ...ofClass }
}

/** What containers must say when a quota limits it; empty: nothing is missing. */
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

/** A quota with scopes speaks of pods alone, and only of those in all of its scopes. */
export function isInScopes(
  quota: ResourceQuota,
  resource: GroupResource,
  object: AnyObject,
): boolean {
  const plain = (quota.spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }))
  const scopes = [...plain, ...(quota.spec?.scopeSelector?.matchExpressions ?? [])]
  if (scopes.length === 0) return true
  if (!isResource(resource, wellKnown.pods)) return false
  return scopes.every((scope) => isInScope(scope, typed<Pod>(object)))
}

function isInScope(scope: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  const test = scopeTests[scope.scopeName]
  return test !== undefined && test(pod, scope)
}

const scopeTests: Readonly<
  Record<string, (pod: Pod, scope: ScopedResourceSelectorRequirement) => boolean>
> = Object.freeze({
  Terminating: (pod) => pod.spec?.activeDeadlineSeconds !== undefined,
  NotTerminating: (pod) => pod.spec?.activeDeadlineSeconds === undefined,
  BestEffort: isBestEffort,
  NotBestEffort: (pod) => !isBestEffort(pod),
  PriorityClass: hasPriorityClass,
})

function isBestEffort({ spec }: Pod): boolean {
  if (!spec) return true
  const amounts = { ...podResources(spec, 'requests'), ...podResources(spec, 'limits') }
  return amounts.cpu === undefined && amounts.memory === undefined
}

function hasPriorityClass(
  { spec }: Pod,
  { operator, values = [] }: ScopedResourceSelectorRequirement,
): boolean {
  const name = spec?.priorityClassName ?? ''
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  return values.includes(name) === (operator === 'In')
}
