import type { GroupResource } from '../object.ts'
import type { PersistentVolumeClaim, Pod, Service } from '../generated/types.ts'
import { addLists, isAbove, podResources, type ResourceList } from './pod-resources.ts'

/** An object of a kind that uses more of a quota than its number. */
export interface QuotaUser {
  readonly pod?: Pod
  readonly service?: Service
  readonly claim?: PersistentVolumeClaim
}

/** Returns the quota that an object uses, by the names that quotas limit. */
export function quotaUsage(
  { group, resource }: GroupResource,
  user: QuotaUser,
  nowMs?: number,
): ResourceList {
  const counted: ResourceList = {
    [group === '' ? `count/${resource}` : `count/${resource}.${group}`]: '1',
  }
  if (user.pod !== undefined) return { ...counted, ...podUsage(user.pod, nowMs) }
  if (user.service !== undefined) return { ...counted, ...serviceUsage(user.service) }
  if (user.claim !== undefined) return { ...counted, ...claimUsage(user.claim) }
  return group === '' ? { ...counted, [resource]: '1' } : counted
}

/** Resources that a quota may name without the prefix `requests.`. */
const plainNames: readonly string[] = ['cpu', 'memory', 'ephemeral-storage']

/** A pod that has ended, or should have ended long ago, counts as an object and uses nothing else. */
function podUsage(pod: Pod, nowMs: number | undefined): ResourceList {
  const phase = pod.status?.phase
  if (!pod.spec || phase === 'Succeeded' || phase === 'Failed' || isOverdue(pod, nowMs)) return {}
  const usage: Record<string, string> = { pods: '1' }
  const { overhead = {} } = pod.spec
  const requests = addLists(podResources(pod.spec, 'requests'), overhead)
  for (const [name, amount] of Object.entries(requests)) {
    usage[`requests.${name}`] = amount
    if (plainNames.includes(name) || name.startsWith('hugepages-')) usage[name] = amount
  }
  for (const [name, amount] of Object.entries(podResources(pod.spec, 'limits'))) {
    if (!plainNames.includes(name)) continue
    // Overhead only raises an existing limit.
    const more: ResourceList = isAbove(amount, '0') ? { [name]: overhead[name] ?? '0' } : {}
    usage[`limits.${name}`] = addLists({ [name]: amount }, more)[name] ?? amount
  }
  return usage
}

/** Returns true if the pod is deleted and its grace period is over, since its node may be gone. */
function isOverdue({ metadata }: Pod, nowMs: number | undefined): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (nowMs === undefined || deletionTimestamp === undefined) return false
  if (deletionGracePeriodSeconds === undefined) return false
  return nowMs > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1_000
}

function serviceUsage({ spec }: Service): ResourceList {
  const ports = spec?.ports ?? []
  const isBalanced = spec?.type === 'LoadBalancer'
  const hasAll =
    spec?.type === 'NodePort' || (isBalanced && spec.allocateLoadBalancerNodePorts !== false)
  const given = isBalanced ? ports.filter(({ nodePort = 0 }) => nodePort !== 0).length : 0
  return {
    services: '1',
    'services.nodeports': String(hasAll ? ports.length : given),
    'services.loadbalancers': isBalanced ? '1' : '0',
  }
}

/** While a claim grows, it may have more than it requests. */
function claimUsage({ spec, status, metadata }: PersistentVolumeClaim): ResourceList {
  const asked = spec?.resources?.requests?.['storage'] ?? '0'
  const held = status?.allocatedResources?.['storage'] ?? '0'
  const storage = isAbove(held, asked) ? held : asked
  const className =
    metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName
  const prefix = `${className ?? ''}.storageclass.storage.k8s.io/`
  const ofClass: ResourceList = className
    ? { [`${prefix}requests.storage`]: storage, [`${prefix}persistentvolumeclaims`]: '1' }
    : {}
  return { persistentvolumeclaims: '1', 'requests.storage': storage, ...ofClass }
}
