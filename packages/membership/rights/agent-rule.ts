import type { Attributes } from '@skerry/apiserver'
import { clusterNamespace, executionNamespace } from '@skerry/fleet-kinds'

/** A right of agents: one rule for all, in which `own` is the agent's own cluster. */
export interface AgentRule {
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** If omitted, any name, or none. */
  readonly name?: (own: string) => string
  /** If omitted, cluster scope. */
  readonly namespace?: (own: string) => string
}

/**
 * The rights by which a cluster's agent, or a virtual cluster, renews its lease and reports the status of its
 * Works.
 */
export const reporterRules: readonly AgentRule[] = [
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    namespace: () => clusterNamespace,
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update', 'patch'],
    name: (own) => own,
    namespace: () => clusterNamespace,
  },
  {
    group: 'work.karmada.io',
    resources: ['works/status'],
    verbs: ['get', 'update', 'patch'],
    namespace: executionNamespace,
  },
]

/** The right to request a certificate, and to fetch it. */
export const requestRule: AgentRule = {
  group: 'certificates.k8s.io',
  resources: ['certificatesigningrequests'],
  verbs: ['create', 'get'],
}

export function isCovered(
  rules: readonly AgentRule[],
  ownName: string,
  { isResourceRequest, resource, subresource, verb, namespace = '', name = '' }: Attributes,
): boolean {
  if (!isResourceRequest || resource === undefined) return false
  const wanted = subresource ? `${resource.resource}/${subresource}` : resource.resource
  return rules.some(
    (rule) =>
      rule.group === resource.group &&
      rule.resources.includes(wanted) &&
      rule.verbs.includes(verb) &&
      (rule.namespace?.(ownName) ?? '') === namespace &&
      (rule.name === undefined || rule.name(ownName) === name),
  )
}
