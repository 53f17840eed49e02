import type { AnyObject } from '@skerry/api'

/** The agent's namespace, and the name of its other objects. */
export const agentNamespace = 'skerry-agent'
export const agentObjectName = 'skerry-agent'

/** The user as whom a hub removes an agent from a cluster that was imported, if the agent's manifest allows it. */
export const agentRemovalUser = 'skerry:agent-removal'
export const agentRemovalName = 'skerry-agent-removal'

const rbac = 'rbac.authorization.k8s.io'

/** Returns the rights to remove the agent's objects and these rights, and nothing else. */
export function removalRights(labels: Readonly<Record<string, string>>): AnyObject[] {
  const metadata = { name: agentRemovalName, labels: { ...labels } }
  const rules = [
    {
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: [agentNamespace],
      verbs: ['get', 'delete'],
    },
    {
      apiGroups: [rbac],
      resources: ['clusterroles', 'clusterrolebindings'],
      resourceNames: [agentObjectName, agentRemovalName],
      verbs: ['get', 'patch', 'delete'],
    },
  ]
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: agentRemovalName },
      subjects: [{ apiGroup: rbac, kind: 'User', name: agentRemovalUser }],
    },
  ]
}
