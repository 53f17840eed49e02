import type { Attributes } from '@skerry/apiserver'
import { type VirtualAgent, clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { isCovered, reporterRules, requestRule, type AgentRule } from './agent-rule.ts'
import type { VirtualChildren } from './virtual-parent.ts'

const own = (name: string): string => name

/** The rights of a virtual cluster's identity. Its parent's identity watches whether it exists. */
const virtualRules: readonly AgentRule[] = [
  {
    group: clusterResource.group,
    resources: ['clusters'],
    verbs: ['get', 'update', 'patch', 'delete'],
    name: own,
  },
  {
    group: clusterResource.group,
    resources: ['clusters/status'],
    verbs: ['get', 'update', 'patch'],
    name: own,
  },
  ...reporterRules,
  {
    group: 'work.karmada.io',
    resources: ['works'],
    verbs: ['get', 'list', 'update', 'patch', 'delete'],
    namespace: executionNamespace,
  },
  {
    group: '',
    resources: ['events'],
    verbs: ['create', 'update', 'patch'],
    namespace: executionNamespace,
  },
  requestRule,
]

/** The right to see that its Cluster is gone. */
const goneRules: readonly AgentRule[] = [
  { group: clusterResource.group, resources: ['clusters'], verbs: ['get'], name: own },
]

/**
 * Reports whether a virtual cluster may do this: while its Cluster belongs to this parent, and the parent may
 * have virtual clusters.
 */
export function isVirtuals(
  { cluster, parent }: VirtualAgent,
  attributes: Attributes,
  children: VirtualChildren,
): boolean {
  return (
    (isCovered(virtualRules, cluster, attributes) && children.has(parent, cluster)) ||
    (isCovered(goneRules, cluster, attributes) && children.mayRegister(parent, cluster))
  )
}
