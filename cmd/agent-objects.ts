import { isStatusError, type AnyObject } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'

/** Who the built-in agent is to its own site. */
export const localAgentUser = 'system:skerry:agent'

const rbac = 'rbac.authorization.k8s.io'
const roleName = 'skerry:agent'

/**
 * What an agent needs in its cluster: to act as the hub's users, and to see how the cluster is. Of
 * the objects that users own it sees pods alone, and changes nothing.
 */
export const agentRole: AnyObject = Object.freeze({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: roleName },
  rules: [
    { apiGroups: [''], resources: ['users', 'groups', 'serviceaccounts'], verbs: ['impersonate'] },
    // uids, and userextras/<any key>, for which RBAC has no narrower pattern.
    { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] },
    { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: ['kube-system'],
      verbs: ['get'],
    },
    {
      nonResourceURLs: ['/readyz', '/version', '/api', '/api/*', '/apis', '/apis/*'],
      verbs: ['get'],
    },
  ],
})

function agentBinding(): AnyObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: roleName },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: roleName },
    subjects: [{ apiGroup: rbac, kind: 'User', name: localAgentUser }],
  }
}

/** Made when missing; an operator who narrows the role keeps it narrow. */
export async function ensureAgentObjects(objects: Objects): Promise<void> {
  const wanted = [
    { resource: 'clusterroles', object: agentRole },
    { resource: 'clusterrolebindings', object: agentBinding() },
  ]
  for (const { resource, object } of wanted) {
    if (objects.get({ group: rbac, resource }, '', roleName)) continue
    try {
      await objects.create({ group: rbac, resource }, structuredClone(object))
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
}
